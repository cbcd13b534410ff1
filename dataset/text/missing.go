package text

// StandardMissing returns the texts that always mean missing, the empty field
// apart. They are matched exactly, after spaces around them are removed.
func StandardMissing() []string {
	return []string{"NA", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A"}
}
