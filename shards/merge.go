package shards

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/internal/checkpoint"
)

// LackingError is the error of parts that do not answer for all files.
type LackingError struct {
	Round int
	Files []int // without an answer
	asks  bool  // a database
}

// Error lists the files.
func (e *LackingError) Error() string {
	if e.asks {
		return fmt.Sprintf("no part answers round %d: run the query that credence partial JOB --print prints, and credence partial JOB RESULT.csv on what comes of it, and merge again", e.Round)
	}
	return fmt.Sprintf("no part answers round %d for files %s: run credence partial for these, and merge again", e.Round, Ranges(e.Files))
}

// Merge takes the answers of all files, in parts in any order. It returns the model, or makes the job ask what comes
// next, and says that there is more. A file may be answered for twice in the same bytes, which counts once. Errors
// leave the job as it was; where files are without an answer it is a [LackingError].
func (j *Job) Merge(ctx context.Context, parts ...*Part) (fitted *credence.Fitted, more bool, err error) {
	answers, err := j.answers(parts)
	if err != nil {
		return nil, false, err
	}
	if j.state.Online {
		fitted, err = j.unite(answers)
		return fitted, false, err
	}
	if j.state.Frame == nil {
		return nil, true, j.mergeCounts(ctx, answers)
	}
	if j.state.Inquiries != nil {
		return j.mergeAsked(ctx, answers)
	}
	fitted, err = j.mergeSums(ctx, answers)
	return fitted, false, err
}

// Twice returns the files that parts of the last Merge answered for more than once, in the same bytes.
func (j *Job) Twice() []int {
	slices.Sort(j.twice)
	return slices.Compact(j.twice)
}

// given is an answer and the part that has it.
type given struct {
	*answer
	part *Part
}

// vector returns one of the answer's own.
func (g *given) vector(name string) []float64 { return g.part.vectors[prefix(g.File)+name] }

// damaged is an error in what the answer says.
func (g *given) damaged(err error) error {
	return fmt.Errorf("%s: file %d: %w: run credence partial again for it", g.part, g.File, err)
}

// check refuses rows whose places are none, or that are others than there are places: a part comes from elsewhere.
func (g *given) check(j *Job) error {
	if g.Counts.Kept < 0 || g.Counts.Source < g.Counts.Kept || j.state.Frame != nil && g.Counts != j.state.Counts[g.File] {
		return g.damaged(errors.New("it has another number of rows than were counted"))
	}
	if j.state.Frame == nil {
		if g.Schema == nil {
			return nil
		}
		if width := len(g.Schema.Columns); width == 0 || len(g.vector("first")) != min(credence.BlockRows, g.Counts.Kept)*width {
			return g.damaged(errors.New("its first rows are no rows of the file"))
		}
		return nil
	}
	begin, places, source := j.state.begins(g.File), g.vector("places"), g.vector("source")
	if len(places) != len(source) || len(g.vector("rows")) != len(source)*len(j.state.Frame.Schema().Columns) || !ascend(places, begin.Kept, g.Counts.Kept) || !ascend(source, begin.Source, g.Counts.Source) {
		return g.damaged(errors.New("the rows that it carries are no rows of the file"))
	}
	return nil
}

// ascend says whether values are whole numbers that ascend, of count ones from first on.
func ascend(values []float64, first, count int) bool {
	least := float64(first)
	for _, v := range values {
		if !(v >= least && v < float64(first+count) && v == math.Trunc(v)) {
			return false
		}
		least = v + 1
	}
	return true
}

// digest is one of all that the answer says.
func (g *given) digest() (string, error) {
	all := []any{g.answer}
	var names []string
	for name := range g.part.vectors {
		if strings.HasPrefix(name, prefix(g.File)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		all = append(all, name, g.part.vectors[name])
	}
	return checkpoint.Fingerprint(all...)
}

// answers returns those of all files, in their order.
func (j *Job) answers(parts []*Part) ([]given, error) {
	question, err := j.question()
	if err != nil {
		return nil, err
	}
	j.twice = nil
	all := make([]given, len(j.state.Files))
	for _, p := range parts {
		if p == nil {
			return nil, errors.New("shards: a part is nil: give those that were read")
		}
		switch s := &p.state; {
		case s.Job != j.id:
			return nil, fmt.Errorf("%s is a part of job %.12s, with other files, another formula, other options or another version of credence, and this is job %.12s: run credence partial for this one", p, s.Job, j.id)
		case s.Round != j.Round() || s.Question != question:
			return nil, fmt.Errorf("%s answers round %d of the job, which asks round %d: run credence partial again for its files", p, s.Round, j.Round())
		}
		for i := range p.state.Answers {
			a := given{&p.state.Answers[i], p}
			if a.File < 0 || a.File >= len(all) {
				return nil, fmt.Errorf("%s answers for file %d, and the job has %d: run credence partial again", p, a.File, len(all))
			}
			if before := all[a.File]; before.answer != nil {
				one, err := before.digest()
				if err != nil {
					return nil, err
				}
				if other, err := a.digest(); err != nil || one != other {
					return nil, fmt.Errorf("%s and %s answer otherwise for file %d, %s: the file or the program differs where they were made; make both again in one place", before.part, p, a.File, j.state.Files[a.File].Path)
				}
				j.twice = append(j.twice, a.File)
				continue
			}
			if err := a.check(j); err != nil {
				return nil, err
			}
			all[a.File] = a
		}
	}
	lacking := &LackingError{Round: j.Round(), asks: j.Asks()}
	for k := range all {
		if all[k].answer == nil {
			lacking.Files = append(lacking.Files, k)
		}
	}
	if lacking.Files != nil {
		return nil, lacking
	}
	return all, nil
}

// mergeSums fits the model.
func (j *Job) mergeSums(ctx context.Context, answers []given) (*credence.Fitted, error) {
	vectors := map[string][]float64{}
	told, err := heard(answers, vectors)
	if err != nil {
		return nil, err
	}
	rows, outside, err := j.state.begun(told, vectors)
	if err != nil {
		return nil, err
	}
	p, engine, _, err := j.prepared(rows)
	if err != nil {
		return nil, err
	}
	all, err := j.total(ctx, engine, answers)
	if err != nil {
		return nil, err
	}
	return p.FitSums(ctx, all, told.Targets, outside)
}

// total adds up the sums of all answers.
func (j *Job) total(ctx context.Context, engine *exact.Engine, answers []given) (all *exact.Sums, err error) {
	for i := range answers {
		a := &answers[i]
		var sums *exact.Sums
		if a.Sums == nil {
			if sums, err = j.sums(engine, a.File); err == nil {
				err = sums.Add(ctx, &carried{})
			}
		} else {
			sums, err = engine.DecodeSums(a.Sums, prefix(a.File), a.part.vectors, j.state.Frame.Fingerprint())
		}
		if err == nil && all != nil {
			err = all.Merge(sums)
		} else if all == nil {
			all = sums
		}
		if err != nil {
			return nil, a.damaged(err)
		}
	}
	return all, nil
}

// beginnings are what first answers tell beside numbers: how targets look, and columns outside the formula.
type beginnings struct {
	Targets *criticism.Targets `json:"targets,omitempty"`
	Beside  *credence.Schema   `json:"beside,omitempty"`
}

// heard is what answers tell. To the vectors it adds the rows that are carried, and the columns beside them where all
// answers have those.
func heard(answers []given, vectors map[string][]float64) (*beginnings, error) {
	out, lacking := new(beginnings), false
	var parts []some
	for i := range answers {
		a := &answers[i]
		for _, name := range []string{"places", "source", "rows"} {
			vectors[name] = append(vectors[name], a.vector(name)...)
		}
		if a.Targets != nil {
			if out.Targets == nil {
				out.Targets = new(criticism.Targets)
			}
			out.Targets.Merge(a.Targets)
		}
		if a.Beside != nil {
			parts = append(parts, some{schema: a.Beside, values: a.vector("beside")})
		} else if len(a.vector("places")) > 0 {
			lacking = true
		}
	}
	if lacking {
		return out, nil
	}
	all, err := unite(parts)
	out.Beside, vectors["beside"] = all.schema, all.values
	return out, err
}

// begun makes the rows that are carried of what answers told, and the columns beside them, nil where there are none.
func (s *state) begun(told *beginnings, vectors map[string][]float64) (*carried, credence.Source, error) {
	rows, source := &carried{rows: s.Frame.Rows}, ints(vectors["source"])
	if len(source) > 0 {
		if err := rows.add(s.Frame, &some{schema: s.Frame.Schema(), values: vectors["rows"]}, ints(vectors["places"]), source); err != nil {
			return nil, nil, fmt.Errorf("the rows that parts carried are damaged: %w: run credence partial again, or %s", err, jobKind.Anew)
		}
	}
	if told.Beside == nil {
		return rows, nil, nil
	}
	if len(vectors["beside"]) != len(source)*len(told.Beside.Columns) {
		return nil, nil, fmt.Errorf("the columns outside the formula that parts carried are damaged: run credence partial again, or %s", jobKind.Anew)
	}
	return rows, &some{told.Beside, vectors["beside"], s.begins(len(s.Counts)).Source, source}, nil
}

// Lock keeps other processes from merging into the job at path until it is unlocked, or the process has ended.
func Lock(path string) (unlock func(), err error) { return atomicfile.Take(path + ".lock") }
