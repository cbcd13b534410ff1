package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/credence-ml/credence"
)

// Config says what a Reader reads and how.
type Config struct {
	Paths  []string  // files, "-" being Stdin; read one after the other
	Stdin  io.Reader // used where a path is "-"
	Parser Parser
	// Step is the number of rows of a batch; 0 means 512. Every batch but the
	// last of the input is full.
	Step   int
	Follow bool // wait for more at the end of the last file instead of ending
	// MaxMalformed is the number of malformed rows that are skipped before
	// reading ends with an error.
	MaxMalformed int64
	// OnMalformed is told of every malformed row that is skipped, on the
	// reader's goroutine; nil ignores them.
	OnMalformed func(error)
	Start       Position // where to begin
	Index       *Index   // of the features; grows unless Frozen
	Names       *Names   // gets the texts of new features if the parser gives them; nil keeps none
	// Frozen leaves the index as it is: unknown features become the column
	// Index.Len() of their batch.
	Frozen bool
	// Pause, if positive, is the number of rows after which the reader waits for
	// Resume: the index stands still then, and its owner may change it.
	Pause int64
}

// Headed is the ability of a parser to understand the header line of a file.
type Headed interface {
	Parser
	// Header is given the first line of every file.
	Header(text []byte) error
}

// MultiLine is the ability of a parser to have rows of several lines.
type MultiLine interface {
	Parser
	// Open says that the row does not end with this text but goes on in the next line.
	Open(text []byte) bool
}

// Batch is a run of parsed rows over the slots of the index.
type Batch struct {
	credence.Batch
	End     Position // behind the last row
	Unknown int      // entries whose features were unknown to a frozen index
	// Paused says that the reader waits for Resume.
	Paused bool
	// Err is why reading ended early; the rows before it are in the batch.
	Err error

	rows Rows
}

// inFlight is the number of batches between reader and consumer: one being
// filled, one being learned, two to even out their times.
const inFlight = 4

// Reader reads and parses on a goroutine of its own while the consumer works on
// an earlier batch. Batches are recycled, so that a row costs no allocation.
type Reader struct {
	cfg    Config
	lines  lines
	full   chan *Batch
	free   chan *Batch
	resume chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended
	spill  []byte        // a row of several lines
}

// Open starts reading. The context ends the reading early; so does Close, which must
// be called in any case.
func Open(ctx context.Context, cfg Config) *Reader {
	if cfg.Step == 0 {
		cfg.Step = credence.BlockRows
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &Reader{
		cfg: cfg, ctx: ctx, cancel: cancel, done: make(chan struct{}),
		full:   make(chan *Batch, inFlight),
		free:   make(chan *Batch, inFlight),
		resume: make(chan struct{}, 1),
	}
	r.lines.paths, r.lines.stdin, r.lines.follow, r.lines.position = cfg.Paths, cfg.Stdin, cfg.Follow, cfg.Start
	_, r.lines.wantHeader = cfg.Parser.(Headed)
	for range inFlight {
		r.free <- &Batch{}
	}
	go r.run(ctx)
	return r
}

// Next returns the next batch, nil after the last and when the context has
// ended. It must be given back by Recycle.
func (r *Reader) Next() *Batch {
	select {
	case b := <-r.full:
		return b
	case <-r.ctx.Done():
		return nil
	}
}

// Recycle gives a batch back.
func (r *Reader) Recycle(b *Batch) { r.free <- b }

// Resume lets a paused reader go on.
func (r *Reader) Resume() { r.resume <- struct{}{} }

// Close ends the reading and waits for its goroutine, unless that waits for
// input: it then ends by itself when some comes, without touching the index.
func (r *Reader) Close() {
	r.cancel()
	for {
		select {
		case <-r.done:
			return
		case <-time.After(time.Millisecond):
			if r.lines.reading.Load() {
				return
			}
		}
	}
}

func (r *Reader) run(ctx context.Context) {
	defer close(r.done)
	defer close(r.full)
	defer r.lines.close()
	for {
		var b *Batch
		select {
		case b = <-r.free:
		case <-ctx.Done():
			return
		}
		more := r.fill(ctx, b)
		if b.rows.Len() == 0 && b.Err == nil {
			return
		}
		if ctx.Err() != nil {
			return // nobody waits; an unfinished batch would make results depend on the moment
		}
		r.resolve(b)
		if b.Err == nil && more && r.cfg.Pause > 0 {
			b.Paused = b.End.Rows/r.cfg.Pause > int64(b.First)/r.cfg.Pause
		}
		paused := b.Paused // the consumer owns the batch once it is sent
		r.full <- b
		if !more {
			return
		}
		if paused {
			select {
			case <-r.resume:
			case <-ctx.Done():
				return
			}
		}
	}
}

// resolve turns keys into slots.
func (r *Reader) resolve(b *Batch) {
	unseen := 0
	if r.cfg.Frozen {
		unseen = r.cfg.Index.Len()
	}
	b.Unknown = b.rows.Slots(&b.Batch, r.cfg.Index, r.cfg.Names, !r.cfg.Frozen, unseen)
}

// fill parses rows until the batch is full; false if no more will come.
func (r *Reader) fill(ctx context.Context, b *Batch) (more bool) {
	b.rows.Reset()
	b.Err, b.Paused = nil, false
	b.First = int(r.lines.position.Rows)
	for b.rows.Len() < r.cfg.Step {
		text, err := r.row(ctx)
		if err == io.EOF {
			if r.lines.advance() {
				continue
			}
			b.End = r.lines.position
			return false
		}
		if err == nil && r.lines.wantHeader && !r.lines.position.Header {
			if err = r.header(text); err == nil {
				continue
			}
		}
		if err != nil {
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				return true
			}
			b.Err, b.End = err, r.lines.position
			return false
		}
		before := b.rows.Len()
		if err := r.cfg.Parser.Parse(&b.rows, text); err != nil {
			if err = r.at(err); r.lines.position.Malformed >= r.cfg.MaxMalformed {
				b.Err, b.End = err, r.lines.position
				return false
			}
			r.lines.position.Malformed++
			if r.cfg.OnMalformed != nil {
				r.cfg.OnMalformed(err)
			}
			continue
		}
		r.lines.position.Rows += int64(b.rows.Len() - before)
	}
	b.End = r.lines.position
	return true
}

// header hands the header line to the parser.
func (r *Reader) header(text []byte) error {
	r.lines.position.Header = true
	if err := r.cfg.Parser.(Headed).Header(text); err != nil {
		return r.at(err)
	}
	return nil
}

// row returns the text of the next row.
func (r *Reader) row(ctx context.Context) ([]byte, error) {
	text, err := r.lines.next(ctx)
	if err != nil {
		return nil, err
	}
	if len(r.lines.header) > 0 { // reading begins behind the header
		err := r.header(r.lines.header)
		r.lines.header = r.lines.header[:0]
		if err != nil {
			return nil, err
		}
	}
	long, ok := r.cfg.Parser.(MultiLine)
	if !ok || !long.Open(text) {
		return text, nil
	}
	r.spill = append(r.spill[:0], text...)
	for count := 2; ; count++ {
		text, err := r.lines.next(ctx)
		if err == io.EOF {
			return r.spill, nil // the parser complains about the open quote
		}
		if err != nil {
			return nil, err
		}
		r.spill = append(append(r.spill, '\n'), text...)
		if len(r.spill) > maxSpill || count > maxLines {
			return nil, r.at(fmt.Errorf("a row of more than %d bytes or %d lines: is a quote not closed?", maxSpill, maxLines))
		}
		if bytes.IndexByte(text, '"') >= 0 && !long.Open(r.spill) {
			return r.spill, nil
		}
	}
}

// Limits of rows of several lines, which are looked through again for every line
// with a quote.
const (
	maxSpill = 1 << 20
	maxLines = 1000
)

// at puts the place of the present line before a complaint.
func (r *Reader) at(err error) error {
	return fmt.Errorf("%s:%d: %w", r.lines.name(), r.lines.position.Line, err)
}
