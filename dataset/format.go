package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/cell"
)

// The formats, as they are named in Options.Format.
const (
	formatCSV     = "csv"
	formatTSV     = "tsv"
	formatLibSVM  = "libsvm"
	formatVW      = "vw"
	formatParquet = "parquet"
)

// headBytes of content are looked at to recognise a format or a delimiter.
const headBytes = 64 << 10

// formatOf returns the format that the extension of a name stands for, or "".
// An extension that stands for something else is returned as it is, with its dot.
func formatOf(name string) string {
	name = strings.ToLower(filepath.Base(name))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	switch extension := filepath.Ext(name); extension {
	case ".csv":
		return formatCSV
	case ".tsv", ".tab":
		return formatTSV
	case ".libsvm", ".svm", ".svmlight":
		return formatLibSVM
	case ".vw":
		return formatVW
	case ".parquet", ".pq":
		return formatParquet
	}
	return ""
}

// foreign are extensions of other formats, with what to do.
func foreign(original string) string {
	name := strings.ToLower(filepath.Base(original))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	switch extension := filepath.Ext(name); extension {
	case ".arrow", ".feather", ".ipc":
		return "Arrow files are not read: write Parquet or CSV"
	case ".xlsx", ".xls", ".ods":
		return spreadsheet(original)
	case ".json", ".jsonl", ".ndjson":
		return "JSON is not read: write Parquet or CSV"
	case ".zip", ".bz2", ".xz", ".7z", ".tar", ".tgz":
		return "this compression is not read: use .gz or .zst, one file in each"
	case ".orc", ".avro", ".h5", ".hdf5", ".npy", ".npz", ".pkl", ".rds", ".rdata", ".mat", ".sas7bdat", ".dta", ".sav":
		return extension + " files are not read: write Parquet or CSV"
	}
	return ""
}

// spreadsheet says what to do about one.
func spreadsheet(name string) string {
	if name == stdinName {
		name = "FILE.xlsx"
	}
	return "spreadsheets are not read: save the sheet as \"CSV UTF-8\", or type soffice --headless --convert-to 'csv:Text - txt - csv (StarCalc):44,34,76' " + cell.Shell(name)
}

// detect decides the format of an input from its options, name and content.
func detect(option, name string, head []byte) (string, error) {
	switch option {
	case formatCSV, formatTSV, formatLibSVM, formatVW, formatParquet:
		return option, binaryFault(name, head, option)
	case "svm":
		return formatLibSVM, binaryFault(name, head, formatLibSVM)
	case "":
	default:
		return "", fmt.Errorf("dataset: there is no format %q: use csv, tsv, libsvm, vw or parquet", option)
	}
	if len(head) == 0 {
		return "", &text.Error{File: name, What: "the file is empty: name one that has rows"}
	}
	if bytes.HasPrefix(head, parquetMagic) {
		return formatParquet, nil
	}
	if format := formatOf(name); format != "" {
		return format, binaryFault(name, head, format)
	}
	if what := foreign(name); what != "" {
		return "", &text.Error{File: name, What: what}
	}
	if err := binaryFault(name, head, ""); err != nil {
		return "", err
	}
	if looksLikeLibSVM(head) {
		return formatLibSVM, nil
	}
	if looksLikeVW(head) {
		return formatVW, nil
	}
	return formatCSV, nil
}

// binaryFault refuses content that is no text.
func binaryFault(name string, head []byte, format string) error {
	if len(head) == 0 {
		return &text.Error{File: name, What: "the file is empty: name one that has rows"}
	}
	if bytes.HasPrefix(head, zipMagic) && bytes.Contains(head, []byte("xl/")) || bytes.HasPrefix(head, oleMagic) {
		return &text.Error{File: name, What: spreadsheet(name)}
	}
	if start := strings.ToLower(string(bytes.TrimSpace(head[:min(len(head), 100)]))); strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html") {
		return &text.Error{File: name, What: "is a web page (HTML), and no table: save the file that the page leads to, such as that of a link named raw or download"}
	}
	if format == formatParquet {
		if !bytes.HasPrefix(head, parquetMagic) {
			return &text.Error{File: name, What: "is not a Parquet file (it does not begin with PAR1): name its format with --format"}
		}
		return nil
	}
	if bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}) || bytes.HasPrefix(head, []byte{0, 0, 0xfe, 0xff}) {
		return &text.Error{File: name, What: "is UTF-32: convert it with iconv -f UTF-32 -t UTF-8"}
	}
	if cr := bytes.IndexByte(head, '\r'); cr >= 0 && cr < len(head)-1 && head[cr+1] != '\n' && bytes.IndexByte(head, '\n') < 0 {
		return &text.Error{File: name, What: `ends its lines with a carriage return alone: convert it with tr '\r' '\n'`}
	}
	if len(head) > 9 && string(head[8:10]) == `{"` {
		if size := binary.LittleEndian.Uint64(head); size < 1<<32 { // of the header
			return &text.Error{File: name, What: "is a safetensors file, as models, jobs and their parts are, and no table: name a file of rows; select reads a job and its parts with --products"}
		}
	}
	if zero := bytes.IndexByte(head, 0); zero >= 0 {
		if zero < 2 && len(head) > 3 && head[zero+1] != 0 && head[zero+2] == 0 { // every other byte
			return &text.Error{File: name, What: "looks like UTF-16 without a byte order mark: convert it with iconv -f UTF-16LE -t UTF-8, or UTF-16BE"}
		}
		line := 1 + bytes.Count(head[:zero], []byte{'\n'})
		return &text.Error{File: name, Line: line, What: "holds a NUL byte, so it is not text: name another format by --format, or fetch the file anew where it is damaged"}
	}
	return nil
}

// looksLikeLibSVM reports whether the first rows are a label and index:value
// pairs, with one pair at least.
func looksLikeLibSVM(head []byte) bool {
	if last := bytes.LastIndexByte(head, '\n'); last >= 0 {
		head = head[:last]
	}
	pairs, rows := 0, 0
	for line := range bytes.Lines(head) {
		if comment := bytes.IndexByte(line, '#'); comment >= 0 {
			line = line[:comment]
		}
		fields := bytes.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if _, _, ok := cell.ParseNumber(fields[0]); !ok {
			return false
		}
		for _, f := range fields[1:] {
			index, value, found := bytes.Cut(f, []byte{':'})
			if !found {
				return false
			}
			_, _, numeric := cell.ParseNumber(value)
			if _, _, ok := cell.ParseNumber(index); (!ok && string(index) != "qid") || !numeric {
				return false
			}
			pairs++
		}
		if rows++; rows == 20 {
			break
		}
	}
	return pairs > 0
}

// delimiters in the order of preference.
var delimiters = [...]byte{',', '\t', ';', '|'}

// sniffDelimiter returns the delimiter that divides the rows of head evenly into
// the most fields, or 0 if none divides them.
func sniffDelimiter(head []byte, whole bool) byte {
	if last := bytes.LastIndexByte(head, '\n'); last >= 0 && !whole {
		head = head[:last+1]
	} else if !bytes.HasSuffix(head, []byte{'\n'}) {
		head = append(bytes.Clone(head), '\n')
	}
	best, most := byte(0), 1
	for _, delimiter := range delimiters {
		if fields := evenFields(head, delimiter); fields > most {
			best, most = delimiter, fields
		}
	}
	if best != 0 {
		return best
	}
	// No delimiter fits every row: take the one that divides the header best, so
	// that the uneven row is what gets refused.
	header, _, _ := bytes.Cut(head, []byte{'\n'})
	most = 0
	for _, delimiter := range delimiters {
		if count := bytes.Count(header, []byte{delimiter}); count > most {
			best, most = delimiter, count
		}
	}
	return best
}

// sniffRows are compared to find the delimiter.
const sniffRows = 100

// evenFields returns the number of fields of the first rows if all have the same
// number, else 0.
func evenFields(head []byte, delimiter byte) int {
	parser := text.CSV{Delimiter: delimiter}
	block := &text.Block{Data: head, Line: 1}
	fields, rows := 0, 0
	stop := &text.Error{}
	err := parser.Records(block, func(_ int, record [][]byte, fault error) error {
		if fault != nil {
			return fault
		}
		if rows == 0 {
			fields = len(record)
		}
		if rows++; len(record) != fields {
			fields = 0
			return stop
		}
		if rows == sniffRows {
			return stop
		}
		return nil
	})
	if err != nil && err != stop && rows == 0 {
		return 0 // the header itself does not parse
	}
	return fields
}

// looksLikeVW recognises Vowpal Wabbit text by its first line: a bar, before it
// nothing, a tag or a number, and no delimiter of other tables.
func looksLikeVW(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	label, features, found := bytes.Cut(line, []byte{'|'})
	if !found || bytes.IndexByte(label, ',') >= 0 {
		return false
	}
	fields := bytes.Fields(label)
	if len(fields) == 0 {
		return true
	}
	if fields[0][0] == '\'' {
		return true
	}
	// A bar-delimited table begins with names, or has no spaces within numbers.
	_, _, number := cell.ParseNumber(fields[0])
	return number && bytes.ContainsAny(features, " :") && (label[len(label)-1] == ' ' || len(fields) > 1)
}

// stateDelimiter gives a file of delimited text the delimiter that was stated for it: by the user, by its own
// first line, "sep=;", as spreadsheets write it, or in training, if its first line has that one.
func (t *Table) stateDelimiter(in *input, head []byte) {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	if stated, is := bytes.CutPrefix(bytes.TrimRight(line, "\r"), []byte("sep=")); is && len(stated) == 1 {
		in.preamble, in.delimiter = true, stated[0]
	}
	trained := t.options.Reading.Delimiter
	switch {
	case t.options.Delimiter != 0:
		in.delimiter = t.options.Delimiter
	case !in.preamble && len(trained) == 1 && bytes.Contains(line, []byte(trained)):
		in.delimiter = trained[0]
	}
}
