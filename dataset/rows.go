package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/table"
)

// Run is a run of consecutive rows as Rows hands it over, valid until the visit it
// was given to returns.
type Run struct {
	*table.Rows
	begin credence.Position // before its first row
	block *text.Block
	last  bool // nothing of the block is behind it
}

// After returns the place behind row i, at which Rows can be begun again; malformed
// rows before it count as read.
func (r *Run) After(i int) credence.Position {
	at := r.begin
	at.Rows += int64(i) + 1
	for _, f := range r.Faults {
		if f.Row <= i {
			at.Malformed++
		}
	}
	return r.place(at, r.Ends[i])
}

// Finish returns the place behind the run and the malformed rows at its end.
func (r *Run) Finish() credence.Position {
	at := r.begin
	at.Rows += int64(r.Count)
	at.Malformed += int64(len(r.Faults))
	end := r.block.End
	switch {
	case r.last:
	case r.Count > 0:
		end = r.Ends[r.Count-1]
	default:
		end = at.Offset
	}
	return r.place(at, end)
}

// place completes a position with the offset in the file.
func (r *Run) place(at credence.Position, offset int64) credence.Position {
	at.Offset = offset
	if r.block.Line > 0 {
		text := r.block.Data[:min(offset-r.block.Offset, int64(len(r.block.Data)))]
		at.Line = r.block.Line - 1 + bytes.Count(text, []byte{'\n'})
	}
	return at
}

// Rows reads the rows once from a place on, the zero Position being the beginning,
// without keeping them, and calls visit with one run after the other, in the order
// of the files. Columns are named as for Load. What visit is told of rows never
// depends on how they are divided into runs or on the number of threads.
//
// Malformed rows are among the Faults of a run, in row order; it is for visit to stop
// at them or to count them. Input that is slow is handed over as it comes, within a
// tenth of a second.
func (t *Table) Rows(ctx context.Context, columns []string, start credence.Position, visit func(*Run) error) error {
	chosen, err := t.choose(columns)
	if err != nil {
		return err
	}
	chosen.inPlace = true
	first, err := t.resume(&start)
	if err != nil {
		return err
	}
	r := &runs{table: t, kinds: newKinds(chosen, t.rules().Rules), at: start, start: start, visit: visit}
	defer func() {
		t.noteEntries(r.merged, r.queries)
		t.noteZero(r.zero)
	}()
	if t.format == formatParquet {
		return t.wordFailure(t.passParquet(ctx, chosen, first, start.Offset, r.consume))
	}
	return t.wordFailure(t.passText(ctx, chosen, first, start, r.consume))
}

// runs hands blocks over as runs.
type runs struct {
	table           *Table
	kinds           *kinds
	start, at       credence.Position
	file            string // of the last block
	merged, queries int
	zero            bool // an index is 0
	total           int64
	window          table.Rows
	cuts            []int
	visit           func(*Run) error
}

func (r *runs) consume(b *text.Block) error {
	if b.File != r.file {
		if b.File != r.at.File {
			r.at.File, r.at.Beginning = b.File, r.table.beginning(b.File)
			r.at.Offset, r.at.Line = 0, 0
		}
		r.file = b.File
	}
	if b.Err != nil {
		return b.Err
	}
	r.merged += b.Merged
	r.queries += b.Queries
	if !r.zero && r.table.format == formatLibSVM {
		for i, from := range b.Start[:b.Count] {
			r.zero = r.zero || from < b.Start[i+1] && b.Keys[from] == 0 // entries are sorted
		}
	}
	r.table.noteInexact(b)
	before := r.kinds.columns
	r.kinds.settle(&b.Rows)
	// A run ends before the first value of a column whose kind was not known.
	cuts := r.cuts[:0]
	for j := range before {
		if before[j].Unknown && !r.kinds.columns[j].Unknown {
			cuts = append(cuts, firstValue(&b.Rows, j, 0))
		}
	}
	from := 0
	if b.File == r.start.File { // rows of Parquet that were read before
		for from < b.Count && b.Ends[from] <= r.start.Offset {
			from++
		}
	}
	cuts = append(cuts, b.Count)
	slices.Sort(cuts)
	r.cuts = cuts
	for _, to := range cuts {
		last := to == b.Count
		if to <= from && !(last && from == 0) {
			continue
		}
		rows := &b.Rows
		if from > 0 || !last {
			rows = &r.window
			window(rows, &b.Rows, from, to)
			rows.Columns = slices.Clone(r.kinds.columns)
			for j := range before {
				if before[j].Unknown && firstValue(&b.Rows, j, 0) >= to {
					rows.Columns[j] = before[j]
				}
			}
		}
		if err := r.hand(rows, b, last); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// hand hands a run over.
func (r *runs) hand(rows *table.Rows, b *text.Block, last bool) error {
	run := &Run{Rows: rows, begin: r.at, block: b, last: last}
	next := run.Finish()
	if err := r.visit(run); err != nil {
		return err
	}
	r.at = next
	if t := r.table; t.options.Progress != nil {
		if r.total == 0 {
			for _, in := range t.inputs {
				r.total += in.size
			}
		}
		t.options.Progress(Progress{Rows: int(r.at.Rows), Bytes: b.Read, Total: r.total})
	}
	return nil
}

// window makes dst rows [from, to) of a run, sharing its memory.
func window(dst, rows *table.Rows, from, to int) {
	width := len(rows.Columns)
	faults, places := dst.Faults[:0], dst.Places[:0]
	*dst = *rows
	dst.Count = to - from
	dst.Values, dst.Ends = rows.Values[from*width:to*width], rows.Ends[from:to]
	if len(rows.Start) > 0 {
		dst.Start = rows.Start[from : to+1]
	}
	if from > 0 {
		dst.Offset = rows.Ends[from-1]
	}
	if to < rows.Count {
		dst.End = rows.Ends[to-1]
	}
	for _, f := range rows.Faults {
		if f.Row >= from && (f.Row < to || to == rows.Count) {
			f.Row -= from
			faults = append(faults, f)
		}
	}
	for i := from; i < to; i++ {
		places = append(places, table.Place{Row: i - from, Line: rows.Line(i)})
	}
	dst.Faults, dst.Places = faults, places
}

// beginningBytes is how much of a file is looked at to tell it from another of the
// same name.
const beginningBytes = 64 << 10

// beginning describes the first stored bytes of a file; it is empty for what cannot
// be read again.
func (t *Table) beginning(name string) string {
	for _, in := range t.inputs {
		if in.name == name {
			return in.beginning(beginningBytes)
		}
	}
	return ""
}

func (in *input) beginning(size int64) string {
	if in.path == "" || in.modified.IsZero() {
		return ""
	}
	file, err := os.Open(in.path)
	if err != nil {
		return ""
	}
	defer file.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(file, size))
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d:%x", n, hash.Sum(nil))
}

// resume returns the number of the file in which a place is, and refuses one that is
// in none of the files.
func (t *Table) resume(start *credence.Position) (first int, err error) {
	if start.File == "" {
		return 0, nil
	}
	for i, in := range t.inputs {
		if in.name != start.File {
			continue
		}
		var size int64
		fmt.Sscanf(start.Beginning, "%d:", &size)
		if start.Beginning != "" && in.beginning(size) != start.Beginning {
			return 0, fmt.Errorf("%s: begins otherwise than the file that was read under this name: go on with the same files, or begin anew", in.name)
		}
		return i, nil
	}
	return 0, fmt.Errorf("%s: was being read and is not among the files now: name it too; to learn other files on top of what is known, start from the model with --from", start.File)
}
