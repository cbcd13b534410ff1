package credence

// Position is a place between two rows of files that are read one after the
// other, at which reading can be taken up again. The reader makes it; for
// everyone else it is a value to keep.
type Position struct {
	File string `json:"file,omitempty"` // name of the file, as the reader was given it
	// Beginning tells the file from another of the same name, by its first bytes.
	Beginning string `json:"beginning,omitempty"`
	Offset    int64  `json:"offset"`    // bytes of the decompressed file before the place
	Line      int    `json:"line"`      // lines of the file before the place
	Rows      int64  `json:"rows"`      // rows before the place, of all files
	Malformed int64  `json:"malformed"` // malformed rows before the place, of all files
}
