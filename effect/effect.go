package effect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/score"
)

// Result is what was estimated.
type Result struct {
	Effects  []Effect `json:"effects"`           // in the order of the columns
	What     What     `json:"what"`              // comparisons, slopes or predictions
	Of       string   `json:"of"`                // what the estimates are of: the target, or f
	Rows     int      `json:"rows"`              // that were averaged over, 0 without data
	Interval float64  `json:"interval"`          // probability of the intervals
	Remarks  []string `json:"remarks,omitempty"` // which rows do not count, and what is taken for granted
}

// Effect is a quantity with its interval. Numbers that do not exist are absent in JSON.
type Effect struct {
	Term     string `json:"term"`          // the column
	Contrast string `json:"contrast"`      // what is compared
	By       Group  `json:"by,omitempty"`  // values that the rows have, or that they are taken at
	Row      int    `json:"row,omitempty"` // from 1, of each row alone
	// Estimate is the posterior mean, of a ratio the median. StdError is the posterior standard deviation, of a ratio
	// that of its logarithm times the estimate.
	Estimate metric.Score `json:"estimate,omitzero"`
	StdError metric.Score `json:"std_error,omitzero"`
	Low      metric.Score `json:"conf_low,omitzero"`  // end of the central interval
	High     metric.Score `json:"conf_high,omitzero"` // the other end
	// Direction is the posterior probability of the estimate's sign: of ratios that they are on the estimate's side of
	// 1.
	Direction metric.Score `json:"p_direction,omitzero"`
	Method    string       `json:"method"` // exact, draws or delta
	// standard error of the estimate by the number of draws, NaN of other methods
	MCSE metric.Score `json:"mcse,omitzero"`

	half [2]float64
}

// Half returns the central interval of probability ½, whatever that from Low to High has.
func (e *Effect) Half() (low, high float64) { return e.half[0], e.half[1] }

// Change is the contrast for people: "+66.7" of a number that moves by a standard deviation.
func (e *Effect) Change() string {
	size, found := strings.CutSuffix(e.Contrast, ")")
	if at := strings.LastIndex(size, "sd ("); found && at >= 0 {
		if v, err := strconv.ParseFloat(size[at+len("sd ("):], 64); err == nil {
			return fmt.Sprintf("+%.3g", v)
		}
	}
	return e.Contrast
}

// mostWork is the largest number of rows times draws.
const mostWork = 200_000_000

// fewestDraws is the least number of draws.
const fewestDraws = 100

// mostNumbers bounds the sums that are held at a time: half a gigabyte.
const mostNumbers = 1 << 26

// Of estimates what options ask for, over the rows of a table; over one at the training means where rows is nil.
func Of(ctx context.Context, scorer *score.Scorer, rows credence.Source, options Options) (*Result, error) {
	if scorer == nil {
		return nil, errors.New("there is no scorer: make one by score.New")
	}
	options, err := options.Validate()
	if err != nil {
		return nil, err
	}
	if scorer.Keyed() && (rows == nil || options.Balanced) {
		return nil, errKeys
	}
	if rows == nil && (options.Rows || len(options.By) > 0) {
		return nil, errors.New("--rows and --by are of the rows of data: give data")
	}
	given := rows != nil
	result := &Result{What: options.What, Of: scorer.Fitted().Frame.TargetName(), Interval: options.Interval}
	remarks, err := narrow(scorer, &options)
	if err != nil {
		return nil, err
	}
	if rows == nil || options.Balanced {
		if rows, result.Remarks, err = made(scorer, rows, &options); err != nil {
			return nil, err
		}
	}
	result.Remarks = append(result.Remarks, remarks...)
	r := &runner{scorer: scorer, options: &options, table: newAltered(rows), ws: credence.NewWorkspace(options.Threads)}
	c, err := newCurve(scorer, options.Link)
	if err != nil {
		return nil, err
	}
	if options.Ratio && c.identity {
		return nil, fmt.Errorf("%s may be 0 or less, so that it has no ratio: leave --ratio out for the difference", result.Of)
	}
	if err := r.bind(); err != nil {
		return nil, err
	}
	result.Remarks = append(result.Remarks, r.plan.remarks...)
	if report := &scorer.Fitted().Report; report.Point() {
		result.Remarks = append(result.Remarks, "weights are the point of least penalised loss, with no posterior about it: effects have no standard errors, and intervals no width; a fit without --engine has both")
	} else if told, why := score.Intervals(report); !told && report.WeightCoverage != nil {
		result.Remarks = append(result.Remarks, fmt.Sprintf("intervals are too narrow: where those of the weights should hold 90 %%, they hold %.0f %%; fit and select have others", 100**report.WeightCoverage))
	} else if !told {
		result.Remarks = append(result.Remarks, why+"; intervals of effects take those prior variances as known")
	}
	if r.by, err = byColumns(r.table, options.By); err != nil {
		return nil, err
	}
	r.members = newMembers(scorer, c, options.Seed)
	if options.Link {
		result.Of = "f"
	}
	quantities, err := r.all(ctx, c)
	if err != nil {
		return nil, err
	}
	const unseen = "some rows have groups, levels or combinations of these that training did not have: "
	if keys, is := r.bound.(*keyRows); r.further {
		result.Remarks = append(result.Remarks, unseen+"effects are averaged over what those may be, as the prior has it, and intervals are of that average")
	} else if is && keys.unseen {
		result.Remarks = append(result.Remarks, unseen+"those count as 0")
	}
	if given && !options.Balanced {
		result.Rows = r.rows
	}
	for _, c := range r.sums {
		if c.needs != nil && r.skipped[c.needs.name] > 0 {
			text := fmt.Sprintf("%d of %d rows lack %s and do not count where it changes", r.skipped[c.needs.name], r.rows, c.needs.name)
			if !slices.Contains(result.Remarks, text) {
				result.Remarks = append(result.Remarks, text)
			}
		}
	}
	if quantities, err = r.hypotheses(quantities); err != nil {
		return nil, err
	}
	err = r.summarise(result, quantities)
	return result, err
}

var errKeys = errors.New("the model was learned online, which knows no means of its columns: give data, and leave --grid out")

// bind makes a plan of the columns, and binds the table to the model.
func (r *runner) bind() error {
	f := r.scorer.Frame()
	var keys *keyRows
	if f == nil {
		var err error
		if keys, err = newKeyRows(r.scorer, r.table); err != nil {
			return err
		}
		f, r.bound = &frame.Frame{Weight: keys.plan.Weight, Missing: keys.plan.Missing}, keys
	}
	if err := r.table.weigh(f.Weight, f.Missing); err != nil {
		return err
	}
	columns, err := columnsOf(r.scorer, r.table, keys)
	if err != nil {
		return err
	}
	if r.plan, err = newPlan(f, r.table, columns, r.options); err != nil {
		return err
	}
	if keys == nil {
		bound, err := f.Bind(r.table, frame.IgnoreTargets)
		if err != nil {
			return err
		}
		bound.MarkLacking()
		r.bound = bound
	}
	return nil
}

// quantity is a function of the weights: for each member a vector, or for each draw a value.
type quantity struct {
	Effect
	log     bool // of which the exponential is told
	method  method
	vectors []vector
	values  []float64
}

// all computes all quantities, each by the best method for it.
func (r *runner) all(ctx context.Context, c *curve) ([]*quantity, error) {
	var found []*quantity
	stored := slices.ContainsFunc(r.members, func(m *member) bool {
		q, is := m.Posterior.(*posterior.Draws)
		return is && q.Mean == nil
	})
	if linear := c.identity || c.log && r.options.Ratio; linear && !stored {
		var err error
		if found, err = r.compute(ctx, exact); err != nil {
			return nil, err
		}
	}
	if missing := slices.Contains(r.varies, true) && !c.identity; found != nil && !missing {
		return found, nil
	}
	how := draws
	switch rows := r.table.Rows(); {
	case rows*r.options.Draws <= r.options.Work || rows*r.options.Draws <= mostWork && ordinal(r.scorer.Fitted()):
		if err := r.draw(); err != nil && ordinal(r.scorer.Fitted()) {
			return nil, err
		} else if err != nil { // of a posterior that is too large to draw from
			how = delta
		}
	case ordinal(r.scorer.Fitted()): // whose cutpoints the delta method leaves out
		r.options.Draws = max(fewestDraws, mostWork/rows)
	default:
		how = delta
	}
	rest, err := r.compute(ctx, how)
	if err != nil || found == nil {
		return rest, err
	}
	for i, q := range found {
		if q.method == "" {
			found[i] = rest[i]
		}
	}
	return found, nil
}

// compute computes all quantities by one method.
func (r *runner) compute(ctx context.Context, how method) (list []*quantity, err error) {
	r.method = how
	size := 0 // of a tally
	if how == draws {
		if err := r.draw(); err != nil {
			return nil, err
		}
		size = r.total
	} else {
		for _, m := range r.members {
			size += m.Posterior.Weights()
		}
	}
	if size*len(r.sums) > mostNumbers {
		return nil, fmt.Errorf("%d settings of the columns times %d numbers are more than memory should hold: name columns with fewer levels, or ask for fewer --draws; inspect tells all weights", len(r.sums), size)
	}
	run, flush := credence.BlockRows, func(first int) error {
		list = append(list, r.quantities(first)...)
		return nil
	}
	if !r.options.Rows {
		if err = r.pass(ctx, run, nil); err == nil {
			err = flush(0)
		}
		return list, err
	}
	run = max(1, min(run, mostNumbers/4/(size*len(r.sums))))
	return list, r.pass(ctx, run, flush)
}

// draw draws the weights.
func (r *runner) draw() (err error) {
	r.total, err = drawMembers(r.scorer, r.members, r.options.Draws, r.options.Seed)
	return err
}

// quantities makes those of all contrasts and groups of the sums.
func (r *runner) quantities(first int) (list []*quantity) {
	groups := order.Places(len(r.names))
	if !r.options.Rows { // by their names, whatever the order of rows
		groups = order.By(len(r.names), func(a, b int) int { return r.names[a].Compare(r.names[b]) })
	}
	for k, c := range r.contrasts {
		for _, g := range groups {
			name := r.names[g]
			q := &quantity{Effect: Effect{Term: c.term, Contrast: c.label, By: slices.Concat(c.at, name)}, method: r.method}
			if r.options.Rows {
				q.Row = first + g + 1
			}
			ratio := r.options.Ratio && len(c.low) > 0
			q.log = ratio
			high, low := r.mean(c.high, g), r.mean(c.low, g)
			switch {
			case high == nil || len(c.low) > 0 && low == nil: // no rows
				q.values = []float64{math.NaN()}
			case r.method == draws:
				q.values = high.draws
				for s := range q.values {
					switch {
					case ratio:
						q.values[s] = math.Log(q.values[s] / low.draws[s])
					case low != nil:
						q.values[s] = (q.values[s] - low.draws[s]) * c.per
					}
				}
			default:
				q.vectors = combine(high, low, ratio && r.method == delta, c.per)
				if ratio && r.method == exact && (len(c.low) > 1 || r.varies[k] && !r.options.Rows) {
					q.method = "" // the logarithm of the ratio is not linear
				}
			}
			list = append(list, q)
		}
	}
	return list
}

// mean returns the average of sums of a group, nil where no row counts.
func (r *runner) mean(sums []int, g int) *tally {
	if len(sums) == 0 {
		return nil
	}
	out := &tally{draws: make([]float64, len(r.cells[sums[0]][g].draws))}
	for _, v := range r.cells[sums[0]][g].vectors {
		out.vectors = append(out.vectors, vector{gradient: make([]float64, len(v.gradient))})
	}
	for _, k := range sums {
		from := r.cells[k][g]
		if from.weight == 0 {
			return nil
		}
		share := 1 / (from.weight * float64(len(sums)))
		kernel.Axpy(share, from.draws, out.draws)
		for m, v := range from.vectors {
			out.vectors[m].value += share * v.value
			kernel.Axpy(share, v.gradient, out.vectors[m].gradient)
		}
	}
	return out
}

// combine returns (high − low)·per, or log(high/low), whose gradient is that of each over its value.
func combine(high, low *tally, ratio bool, per float64) []vector {
	for m := range high.vectors {
		h := &high.vectors[m]
		switch {
		case ratio:
			l := low.vectors[m]
			kernel.Scale(1/h.value, h.gradient)
			kernel.Axpy(-1/l.value, l.gradient, h.gradient)
			h.value = math.Log(h.value / l.value)
		case low != nil:
			kernel.Axpy(-1, low.vectors[m].gradient, h.gradient)
			h.value = (h.value - low.vectors[m].value) * per
			kernel.Scale(per, h.gradient)
		}
	}
	return high.vectors
}
