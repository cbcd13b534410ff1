package learn

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/task"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/table"
)

// Progress tells how learning goes. Its measures are of rows scored before they were learned.
type Progress struct {
	Rows      int64 // learned, in all passes
	Malformed int64 // skipped, in this pass
	LogLoss   metric.Score
	AUC       metric.Score // not a number while all rows are of one class
	Features  int
	Selected  int
	NameBytes int64 // memory of the names of features
}

// Progress returns how learning goes.
func (l *Learner) Progress() (Progress, error) {
	if err := l.wait(); err != nil {
		return Progress{}, err
	}
	p := Progress{Rows: l.counts.Rows, Malformed: l.counts.Malformed, Features: l.counts.Slots, Selected: l.online.Selected(l.counts.Slots)}
	if l.names != nil {
		p.NameBytes = l.names.Bytes()
	}
	measured, err := l.measured.Result()
	p.LogLoss, p.AUC = measured.LogLoss, measured.AUC
	return p, err
}

// Rows returns the number of rows learned, in all passes.
func (l *Learner) Rows() int64 {
	l.wait()
	return l.counts.Rows
}

// Learn scores every row of a run and then learns it. It returns how many rows of the run it took up
// before an error, those that it skipped among them: to go on is to go on behind them, with the faults that stand
// between them and the error, which do not count as skipped. On several threads it returns while the last rows are
// being learned, which are no longer those of the run; every other method waits for them. After a panic, which is its
// error or that of the method that waited, all that the learner knows is in doubt: every method returns that error from
// then on. So it is where the score of a row is no number.
func (l *Learner) Learn(rows *table.Rows) (taken int, err error) {
	if l.broken != nil {
		return 0, l.broken
	}
	if l.released {
		return 0, errReleased
	}
	if l.finished && rows.Count+len(rows.Faults) > 0 && l.counts.Files > 0 {
		return 0, &fit.Misuse{Err: fmt.Errorf("the checkpoint is of %d files that were learned apart, and no row is the next: start from the model, with --from", l.counts.Files)}
	}
	if l.finished && rows.Count+len(rows.Faults) > 0 {
		return 0, &fit.Misuse{Err: fmt.Errorf("the checkpoint is of a finished run of %d passes, in which new rows would count less than the others: begin anew", l.engine.Passes)}
	}
	if l.plan == nil {
		if err := l.begin(rows); err != nil {
			return 0, err
		}
	}
	if err := l.binder.Begin(rows); err != nil {
		return 0, err
	}
	again := int64(0) // faults skipped since the last row taken up, which are read again after an error
	defer func() {
		if err != nil && again > 0 {
			l.counts.Malformed -= again
		}
	}()
	for faults := rows.Faults; ; {
		for len(faults) > 0 && faults[0].Row == taken {
			if err := l.wait(); err != nil {
				return taken, err
			}
			if err := l.skip(faults[0].Err); err != nil {
				return taken, err
			}
			faults = faults[1:]
			again++
		}
		if taken == rows.Count {
			return taken, nil
		}
		if l.last == nil {
			l.then = l.counts
		}
		b := l.bind(taken, l.stretch(rows, faults, taken))
		if taken += b.taken; b.taken > 0 {
			again = 0
		}
		if l.certain(&b) {
			err = l.learnBehind(b)
		} else if err = l.wait(); err == nil {
			err = l.owned(func() error { return l.learn(&b) })
			l.then = l.counts
		}
		if err != nil {
			return taken, err
		}
		if l.prunes() {
			if err := l.wait(); err != nil {
				return taken, err
			}
			l.prune(l.online.(ability.Pruner))
		}
	}
}

const (
	// batchRows is how many rows are bound at a time: their slots stay in the cache of a core. Results do not
	// depend on it.
	batchRows = 512
	// fewRows are learned at once: they are not worth a goroutine.
	fewRows = 32
)

// stretch returns how many rows from first on make the next batch.
func (l *Learner) stretch(rows *table.Rows, faults []table.Fault, first int) int {
	count := min(batchRows, rows.Count-first)
	if len(faults) > 0 {
		count = min(count, faults[0].Row-first)
	}
	if p, ok := l.online.(ability.Pruner); ok && p.PruneEvery() > 0 {
		count = int(min(int64(count), p.PruneEvery()-l.then.PassRows%p.PruneEvery()))
	}
	return count
}

// prunes says whether the engine prunes behind the rows bound so far.
func (l *Learner) prunes() bool {
	p, ok := l.online.(ability.Pruner)
	return ok && p.PruneEvery() > 0 && l.then.PassRows%p.PruneEvery() == 0
}

// bound is a batch of rows with what the binder says of it.
type bound struct {
	batch   credence.Batch
	taken   int // rows of the run
	from    []int
	faults  []table.Fault
	dropped int
	err     error // of the row behind those taken
}

func (l *Learner) bind(first, count int) (b bound) {
	b.taken, b.err = l.binder.Bind(&b.batch, first, count, int(max(0, min(l.MaxMalformed-l.then.Malformed, batchRows))))
	b.from, b.faults, b.dropped = l.binder.From, l.binder.Faults, l.binder.Dropped
	return b
}

// certain says whether rows may be bound before those of a batch are learned: no row of it will be refused or is
// left out, which would change what is known of those behind, and none is reported.
func (l *Learner) certain(b *bound) bool {
	n := b.batch.Rows()
	if n < fewRows || l.threads() == 1 || b.err != nil || len(b.faults) > 0 || l.plan.Fills() {
		return false
	}
	if rows := l.then.Rows; l.Every > 0 && l.OnProgress != nil && (rows+int64(n))/l.Every > rows/l.Every {
		return false
	}
	for i := range n {
		if !b.batch.Ordinary(i) {
			return false
		}
	}
	return true
}

func (l *Learner) threads() int {
	if l.options.Threads == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return l.options.Threads
}

// learnBehind learns a batch behind those that are being learned, and waits until the binder has memory for another.
func (l *Learner) learnBehind(b bound) error {
	before := l.last
	l.last = task.Go(func() error {
		if before != nil {
			if err := before.Wait(); err != nil {
				return err
			}
		}
		return l.learn(&b)
	})
	seen, n := l.then.Sums.Seen, int64(b.batch.Rows())
	l.then.Sums.Seen += n
	if every := l.options.HoldOut; every > 0 {
		n -= (seen+n)/every - seen/every
	}
	l.then.Rows, l.then.PassRows = l.then.Rows+n, l.then.PassRows+n
	l.under = append(l.under, l.last)
	if len(l.under) == keyed.Batches {
		first := l.under[0]
		l.under = append(l.under[:0], l.under[1:]...)
		return l.owned(first.Wait)
	}
	return nil
}

// wait waits until all batches are learned, and returns what has broken the learner.
func (l *Learner) wait() error {
	if l.last != nil {
		last := l.last
		l.last, l.under = nil, l.under[:0]
		l.owned(last.Wait)
	}
	return l.broken
}

// owned calls work and returns its error; one of a panic breaks the learner.
func (l *Learner) owned(work func() error) error {
	err := task.Do(work)
	if fault := (*task.Panic)(nil); (errors.As(err, &fault) || errors.Is(err, errNoNumber)) && l.broken == nil {
		l.broken = err
	}
	return err
}

// learn scores and learns a batch.
func (l *Learner) learn(b *bound) error {
	n := b.batch.Rows()
	l.probability = slices.Grow(l.probability[:0], n)[:n]
	targets := l.holdOut(&b.batch)
	refused := l.online.Learn(&b.batch, l.probability)
	l.counts.Slots = b.batch.Sparse.Cols
	if l.counts.Pass == 0 { // every pass leaves out the same rows
		l.counts.Dropped += int64(b.dropped)
	}
	for i, p := range l.probability {
		switch y := b.batch.Target[i]; {
		case p != p:
			return l.binder.At(b.from[i], errNoNumber)
		case slices.Contains(refused, i):
		case y != y:
			l.counts.Sums.addLoss(metric.LogLoss(targets[i], p), b.batch.WeightOf(i), true)
		default:
			l.measure(&b.batch, i, p)
		}
	}
	l.counts.Sums.Seen += int64(n)
	if l.plan.Fills() && !slices.Contains(refused, n-1) {
		l.binder.Learned()
	}
	err := b.err
	for _, fault := range b.faults {
		if skipped := l.skip(fault.Err); err == nil {
			err = skipped
		}
	}
	for _, i := range refused {
		refusal := l.binder.At(b.from[i], tooLarge(l.binder.Farthest(b.from[i])))
		if skipped := l.skip(refusal); skipped != nil { // rows behind it are learned: it cannot be gone back to
			l.counts.Malformed++
			if err == nil {
				err = fmt.Errorf("%w, and begin anew, for rows behind it are learned already; to go on is to leave it out", skipped)
			}
		}
	}
	return err
}

// errNoNumber is said of a row whose score, a sum over all that is known of its features, is none.
var errNoNumber = errors.New("the probability of the row is no number, so that something learned before it is none: go on from the last checkpoint, or begin anew, and leave out rows of huge values or weights")

// tooLarge says why a row is refused whose largest number is known.
func tooLarge(name string, value float64) error {
	return fmt.Errorf("%s is %.6g: the values, the weight or the offset of the row are too large to learn from: correct the row", name, value)
}

// measure takes the score of a row.
func (l *Learner) measure(b *credence.Batch, i int, p float64) {
	c, y, weight := &l.counts, b.Target[i], b.WeightOf(i)
	if c.Pass == 0 {
		c.Sums.addLoss(l.measured.Add(y, p, weight), weight, false)
		c.Positives += weight * y
		c.Weight += weight
	} else {
		c.Sums.addLoss(metric.LogLoss(y, p), weight, false)
	}
	c.Rows++
	c.PassRows++
	if l.Every > 0 && c.Rows%l.Every == 0 && l.OnProgress != nil {
		if progress, err := l.Progress(); err == nil { // otherwise the end reports it
			l.OnProgress(progress)
		}
	}
}

// skip counts a malformed row, and returns its error if it is one too many.
func (l *Learner) skip(err error) error {
	if l.counts.Malformed >= l.MaxMalformed {
		return err
	}
	l.counts.Malformed++
	if l.OnMalformed != nil {
		l.OnMalformed(err)
	}
	return nil
}

// prune drops what the engine gives up.
func (l *Learner) prune(p ability.Pruner) {
	kept := p.Prune()
	if kept == nil {
		return
	}
	l.index.Keep(kept)
	if l.names != nil {
		l.names.Keep(kept)
	}
	l.counts.Slots = len(kept)
	l.binder.Forget()
}

// EndPass says that the next row begins another pass over the same rows. It returns false if all
// passes that the engine was asked for are done, after a panic, which [Learner.Fitted] then returns, and where the
// features have become a model.
func (l *Learner) EndPass() bool {
	if l.whole() != nil {
		return false
	}
	l.counts.Pass++
	l.endPass()
	if l.counts.Pass >= l.engine.Passes {
		return false
	}
	l.online.EndPass()
	l.counts.PassRows, l.counts.Malformed = 0, 0 // the same rows are malformed again
	if l.binder != nil {
		l.binder.EndPass()
	}
	return true
}

// oneRow turns values of a program into rows.
type oneRow struct {
	binding *table.Binding[any]
	rows    table.Rows
}

// Row scores a struct, a map[string]any or a pointer to one of them, and then learns it. Its columns
// are those of the first row.
func (l *Learner) Row(value any) (probability float64, err error) {
	if l.row == nil {
		columns, err := table.ColumnsOf(value)
		if err != nil {
			return 0, err
		}
		known := l.Kinds() // of the rows before a checkpoint
		for k := range columns {
			if kind, is := known[columns[k].Name]; is && columns[k].Unknown {
				columns[k].Kind, columns[k].Unknown = kind, false
			}
		}
		one := &oneRow{}
		if one.binding, err = table.Bind[any](table.Layout{Columns: columns}); err != nil {
			return 0, err
		}
		l.row = one
	}
	l.row.binding.Reset(&l.row.rows)
	if err := l.row.binding.Append(&l.row.rows, value); err != nil {
		return 0, err
	}
	if _, err := l.Learn(&l.row.rows); err != nil {
		return 0, err
	}
	if err := l.wait(); err != nil {
		return 0, err
	}
	if len(l.probability) == 0 {
		return 0, fmt.Errorf("the row was skipped")
	}
	return l.probability[0], nil
}
