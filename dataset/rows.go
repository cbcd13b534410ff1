package dataset

import (
	"bytes"
	"context"
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
	runs  *runs
	block *text.Block
	last  bool // nothing of the block is behind it
}

// After returns the place behind row i, at which Rows can be begun again; malformed
// rows before it count as read.
func (r *Run) After(i int) credence.Position { return r.after(i, true) }

func (r *Run) after(i int, marked bool) credence.Position {
	at := r.begin
	at.Rows += int64(i) + 1
	for _, f := range r.Faults {
		if f.Row <= i {
			at.Malformed++
		}
	}
	return r.runs.place(at, r.block, r.Ends[i], marked)
}

// Finish returns the place behind the run and the malformed rows at its end.
func (r *Run) Finish() credence.Position { return r.end(true) }

func (r *Run) end(marked bool) credence.Position {
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
	return r.runs.place(at, r.block, end, marked)
}

// place completes a position with the offset in the file, and marks the file where that is asked for.
func (r *runs) place(at credence.Position, b *text.Block, offset int64, marked bool) credence.Position {
	at.Offset, at.Beginning, at.Ending = offset, "", ""
	if b.Line > 0 {
		text := b.Data[:min(offset-b.Offset, int64(len(b.Data)))]
		at.Line = b.Line - 1 + bytes.Count(text, []byte{'\n'})
	}
	if marked {
		r.mark(&at)
	}
	return at
}

// mark tells the file of a place.
func (r *runs) mark(at *credence.Position) {
	if r.table.format != formatParquet {
		r.known.mark(at)
	} else if r.table.inputs[at.Files].markGroups(at) != nil {
		at.Beginning = "unread" // it is gone already, and no file is taken for it
	}
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
	r := &runs{table: t, at: start, visit: visit}
	t.runs = r
	chosen, err := t.choose(columns)
	if err != nil {
		return err
	}
	chosen.inPlace = true
	first, err := t.resume(ctx, &start)
	if err != nil {
		return err
	}
	r.kinds, r.at, r.start = newKinds(chosen, t.cells()), start, start
	r.known.beginning = start.Beginning
	defer func() {
		t.noteEntries(r.merged, r.queries)
		t.noteZero(r.zero)
	}()
	return t.passFrom(ctx, chosen, first, start, r.consume)
}

// Behind returns the place behind the last run that visit took from Rows without an error, or the one at which Rows
// began.
func (t *Table) Behind() credence.Position {
	if t.runs == nil {
		return credence.Position{}
	}
	at := t.runs.at
	if at.Beginning == "" {
		t.runs.mark(&at)
	}
	return at
}

// runs hands blocks over as runs.
type runs struct {
	table           *Table
	kinds           *kinds
	start, at       credence.Position
	known           known
	merged, queries int
	zero            bool // an index is 0
	total           int64
	window          table.Rows
	cuts            []int
	visit           func(*Run) error
}

func (r *runs) consume(b *text.Block) error {
	for ; b.File != r.table.inputs[r.at.Files].name; r.at.Files++ {
		r.at = credence.Position{Files: r.at.Files, Read: r.known.file(&r.at), Rows: r.at.Rows, Malformed: r.at.Malformed}
		r.known = known{}
	}
	if b.Err != nil {
		return b.Err
	}
	if r.table.format != formatParquet {
		r.known.begin(b)
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
	if r.at.Files == r.start.Files { // rows of Parquet that were read before
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
	r.known.end()
	return nil
}

// hand hands a run over.
func (r *runs) hand(rows *table.Rows, b *text.Block, last bool) error {
	run := &Run{Rows: rows, begin: r.at, runs: r, block: b, last: last}
	next := run.end(false)
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
