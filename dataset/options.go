package dataset

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
)

// Options say how files are read. The zero value reads every known format with
// inferred types.
type Options struct {
	// Format is one of csv, tsv, libsvm, vw and parquet; empty decides by the
	// extension of each file, else by its content. Compression is always
	// recognised by content.
	Format string
	// Encoding of text is utf-8 or windows-1252; empty decides by the first character that is none of ASCII, among
	// the first 64 KB. UTF-16 is told by its byte order mark. What is read is UTF-8.
	Encoding string
	// Delimiter separates the fields of delimited text; 0 finds it out.
	Delimiter byte
	// Types overrides inferred kinds, by column name. Dates are numbers, in the order of
	// day, month and year that Dates has: "ymd", "dmy", "mdy", or "date", which finds it out.
	Types map[string]credence.Kind
	Dates map[string]string
	// Kinds are those that columns had in training, where Types and Stated do not tell; the files may lack them.
	Kinds map[string]credence.Kind
	// Stated says how columns are read, as [ReadSchema] has it: Types and Dates override it. A column that the files
	// lack is an error, unless Schema is set, one that Stated lacks is inferred, and both that and a level that it
	// lacks are noted.
	Stated *credence.Schema
	// Decimal is the decimal mark, "." or ",", of numbers that may have either; "" takes the one
	// that others show.
	Decimal string
	// MissingTokens are texts that mean missing, beside NA, NaN, nan, NULL,
	// null, None, <NA> and #N/A.
	MissingTokens []string
	// Reading is that of training; that of Schema takes its place where it is set.
	Reading credence.Reading
	// Schema is the schema of training: columns are found by name, kinds and
	// category codes are its own, other columns are left out unless asked for.
	Schema *credence.Schema
	// Threads is the number of parsing goroutines; below 1 means every processor. One parses on the
	// goroutine of the caller. Results never depend on it.
	Threads int
	// CacheDir holds the row cache; empty means credence in the user's cache
	// directory.
	CacheDir string
	// CacheLimit is how many bytes the row cache may take; 0 means 20 GB, or half
	// of what is free on the disk if that is less.
	CacheLimit int64
	// MemoryLimit is the size of decoded text up to which rows stay in memory
	// instead of the row cache; 0 means 64 MB, below 0 means none.
	MemoryLimit int64
	// MaxLevels is how many levels a category column may have; 0 means 1,000,000.
	MaxLevels int
	// Stdin is what the path "-" reads; nil means os.Stdin.
	Stdin io.Reader
	// Kept keeps standard input and named pipes for other tables; nil keeps them for this one.
	Kept *Kept
	// Once says that the rows are read once, by Rows or Load: standard input and named
	// pipes are then read as they come. Otherwise their content is kept, in memory or
	// in the cache folder.
	Once bool
	// Follow waits for more at the end of the last file, for ever: Rows then ends with
	// its context. It reads once.
	Follow bool
	// SkipMalformed reads over malformed rows while types are inferred; Rows tells of
	// them.
	SkipMalformed bool
	// Keyed numbers the sparse columns of libsvm text in the order in which rows have
	// them, for formulas that hash them: indices may then be of any size. Those of
	// Vowpal Wabbit text always are.
	Keyed bool
	// KindsKnown says that the caller knows the kinds of columns, so that nothing is said of how they
	// are inferred.
	KindsKnown bool
	// Progress is called now and then while rows are read, on the goroutine of
	// the caller of Load or Rows.
	Progress func(Progress) `json:"-"`
}

// Progress tells how far reading is.
type Progress struct {
	Rows  int
	Bytes int64 // of the files as stored
	Total int64 // size of the files as stored, 0 where it is unknown
}

const (
	defaultMemoryLimit = 64 << 20
	defaultMaxLevels   = 1_000_000
	// sampleRows are looked at to infer types.
	sampleRows = 10_000
)

func (o *Options) threads() int {
	if o.Threads < 1 {
		return runtime.GOMAXPROCS(0)
	}
	return o.Threads
}

func (o *Options) memoryLimit() int64 { return cmp.Or(o.MemoryLimit, defaultMemoryLimit) }

func (o *Options) maxLevels() int { return cmp.Or(o.MaxLevels, defaultMaxLevels) }

// ParseTypes reads "age=category,zip=text,sold=dmy". The kinds are number, boolean and
// category; text is another word for category, and date, ymd, dmy and mdy are numbers that are
// written as dates. A column name may stand in double quotes, doubled inside.
func ParseTypes(text string) (types map[string]credence.Kind, dates map[string]string, err error) {
	types = make(map[string]credence.Kind)
	for rest := strings.TrimSpace(text); rest != ""; {
		name, after, err := typeName(rest)
		if err != nil {
			return nil, nil, err
		}
		kind, next, _ := strings.Cut(after, ",")
		kind, rest = strings.TrimSpace(kind), strings.TrimSpace(next)
		if _, twice := types[name]; twice {
			return nil, nil, fmt.Errorf("dataset: column %q has two types in %q: keep one", name, text)
		}
		switch kind {
		case "number":
			types[name] = credence.Numeric
		case "boolean":
			types[name] = credence.Boolean
		case "category", "text":
			types[name] = credence.Category
		default:
			if kind != cell.AnyDate && !cell.DateOrder(kind) {
				return nil, nil, fmt.Errorf("dataset: column %q cannot be of type %q: use number, boolean, category, text, date, ymd, dmy or mdy", name, kind)
			}
			types[name] = credence.Numeric
			if dates == nil {
				dates = make(map[string]string)
			}
			dates[name] = kind
		}
	}
	return types, dates, nil
}

// typeName splits off the column name and the equals sign.
func typeName(text string) (name, rest string, err error) {
	if strings.HasPrefix(text, `"`) {
		for i := 1; i < len(text); i++ {
			if text[i] != '"' {
				continue
			}
			if i+1 < len(text) && text[i+1] == '"' {
				i++
				continue
			}
			after, found := strings.CutPrefix(strings.TrimSpace(text[i+1:]), "=")
			if !found {
				break
			}
			return strings.ReplaceAll(text[1:i], `""`, `"`), after, nil
		}
		return "", "", fmt.Errorf("dataset: types %q lack a closing quote or an equals sign: write \"name\"=category", text)
	}
	name, rest, found := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !found || name == "" {
		return "", "", fmt.Errorf("dataset: %q is not name=type: write for example age=category,zip=text", text)
	}
	return name, rest, nil
}
