package shards

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi"
)

// Engine svi is asked in rounds: merge fits as on one machine, with rows that answer from the job, and where an answer
// is lacking the fit ends, and is made again from the beginning once files have answered.

// inquiry is a question that the job asks of its files. Vectors of the job whose names begin with "ask." are its parts.
type inquiry struct {
	Key      string           `json:"key"` // its place in the fit
	Guess    bool             `json:"guess,omitempty"`
	Question problem.Question `json:"question"`
}

// askedName is what the names of the vectors of question i begin with.
func askedName(i int) string { return fmt.Sprintf("ask.%d.", i) }

// answerName is the name of the answer of a file to question i, behind its prefix.
func answerName(i int) string { return fmt.Sprintf("answer.%d", i) }

// questions are those of the round, with their vectors.
func (j *Job) questions() []inquiry {
	list := slices.Clone(j.state.Inquiries)
	for i := range list {
		for name, values := range list[i].Question.Vectors() {
			*values = j.vectors[askedName(i)+name]
		}
	}
	return list
}

// respond answers the questions of the round by the rows of file k.
func (j *Job) respond(ctx context.Context, a *answer, p *fit.Prepared, asks *svi.Engine, bound *frame.Bound, source credence.Source, vectors map[string][]float64) error {
	first, total := j.state.begins(a.File), j.state.Frame.Rows
	for i, q := range j.questions() {
		x, err := asks.Answer(ctx, bound, &q.Question, first.Kept, total)
		if err != nil {
			return err
		}
		vectors[prefix(a.File)+answerName(i)] = x
	}
	if j.state.Told != nil {
		return nil
	}
	var err error
	if a.Targets, err = p.Targets(ctx, source); err == nil && !j.state.NoRows {
		err = j.carry(ctx, a, p, bound, source, vectors)
	}
	return err
}

// replay are the rows of a fit as merge has them: some, and answers of all.
type replay struct {
	*carried
	vectors map[string][]float64 // "done.KEY" is an answer, and "of.KEY" tells what was asked
	path    string               // of the branch
	count   int                  // of what was asked in it
	guess   bool                 // the branch is one
	lacking []inquiry
	// length is how many numbers answer a question.
	length func(*problem.Question) (int, error)
}

// Ask implements [svi.Apart].
func (r *replay) Ask(q *problem.Question) ([]float64, error) {
	key := r.path + strconv.Itoa(r.count)
	r.count++
	x, done := r.vectors["done."+key]
	same := near(q.Mean, r.vectors["of."+key])
	if _, guessed := r.vectors["guess."+key]; guessed && !same {
		done = false
	}
	if !done && r.guess && r.count > 1 {
		return nil, problem.ErrAsked
	}
	if !done {
		asked := inquiry{key, r.guess, *q}
		for _, values := range asked.Question.Vectors() {
			*values = slices.Clone(*values)
		}
		r.lacking = append(r.lacking, asked)
		return nil, problem.ErrAsked
	}
	if length, err := r.length(q); err != nil || len(x) != length {
		return nil, fmt.Errorf("the job's answers are damaged: %s", jobKind.Anew)
	}
	if !same {
		return nil, errors.New("the fit goes another way than in the rounds before: run every merge of a job on processors of one kind, or make the job anew")
	}
	return x, nil
}

// Branch implements [svi.Apart].
func (r *replay) Branch(name string, guess bool) (leave func()) {
	path, count, before := r.path, r.count, r.guess
	r.path, r.count, r.guess = path+name+".", 0, before || guess
	return func() { r.path, r.count, r.guess = path, count, before }
}

// near says whether means are the same but for rounding.
func near(a, b []float64) bool {
	most, apart := 0.0, 0.0
	for i := range min(len(a), len(b)) {
		most, apart = math.Max(most, math.Abs(a[i])), math.Max(apart, math.Abs(a[i]-b[i]))
	}
	return len(a) == len(b) && apart <= 1e-6*most
}

// mergeAsked takes the answers of a round, and fits as far as they go.
func (j *Job) mergeAsked(ctx context.Context, answers []given) (*credence.Fitted, bool, error) {
	next, vectors := j.state, maps.Clone(j.vectors)
	if next.Told == nil {
		first, err := heard(answers, vectors)
		if err != nil {
			return nil, false, err
		}
		next.Told = first
	}
	rows, outside, err := next.begun(next.Told, vectors)
	if err != nil {
		return nil, false, err
	}
	asked := &replay{carried: rows, vectors: vectors}
	var data credence.Data = asked
	if len(rows.places) == rows.rows {
		data = rows
	}
	p, _, asks, err := j.prepared(data)
	if err != nil {
		return nil, false, err
	}
	asked.length = asks.Length
	maps.DeleteFunc(vectors, func(name string, _ []float64) bool { return strings.HasPrefix(name, "ask.") })
	for i, q := range j.questions() {
		var sum []float64
		length, err := asks.Length(&q.Question)
		if err != nil {
			return nil, false, err
		}
		for k := range answers {
			switch x := answers[k].vector(answerName(i)); {
			case answers[k].Counts.Kept == 0:
			case len(x) != length:
				return nil, false, answers[k].damaged(fmt.Errorf("%d numbers answer what %d do", len(x), length))
			case sum == nil:
				sum = slices.Clone(x)
			default:
				q.Question.Add(sum, x)
			}
		}
		vectors["done."+q.Key], vectors["of."+q.Key] = sum, q.Question.Mean
		if delete(vectors, "guess."+q.Key); q.Guess {
			vectors["guess."+q.Key] = []float64{}
		}
	}
	fitted, err := p.FitSums(ctx, nil, next.Told.Targets, outside)
	if !errors.Is(err, problem.ErrAsked) {
		return fitted, false, err
	}
	next.Inquiries = nil
	for i, q := range asked.lacking {
		for name, values := range q.Question.Vectors() {
			if *values != nil {
				vectors[askedName(i)+name] = *values
			}
		}
		next.Inquiries = append(next.Inquiries, q)
	}
	next.Round, next.Asked = next.Round+1, next.Asked+1
	j.state, j.vectors = next, vectors
	return nil, true, nil
}
