package criticism

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// family is what the checks ask of a likelihood. Every one of package likelihood has it.
type family interface {
	likelihood.Differentiable
	likelihood.Supported
	likelihood.Cumulative
	likelihood.Sampler
	credence.Predictive
}

const (
	// run is the number of neighbouring rows that are read at once.
	run = 16
	// mostWork bounds rows times squared weights, which a prediction of full covariance costs.
	mostWork = 5e8
	// MostKeys is the number of columns beside the model that are looked at.
	MostKeys = 10
	// mostColumns is the number of columns that residuals are compared with, and mostPairs that of columns whose
	// products are.
	mostColumns, mostPairs = 30, 6
	// mostCells bounds rows times columns that are compared, and keptCells rows times columns of which those are
	// chosen, where fewestCompared rows are no fewer; mostKept is how many columns are looked at. 1,700 rows show
	// what explains 2 % in 19 of 20 sets.
	mostCells, keptCells = 5e4, 1e6
	fewestCompared       = 500
	mostKept             = 2000
	// leastError is the error of a check where all are made.
	leastError = ErrorRate / mostChecks
	// largestLeverage keeps the residual of a row that is fitted by a weight of its own finite.
	largestLeverage = 0.95
)

// kind is what the checks need to know of a family.
type kind struct {
	name            string
	fixedDispersion bool // the mean fixes the variance
	counts          bool
	gaussian        bool
	classes         bool  // two, or grades: a residual has no size of its own
	grades          int   // 0 of other families
	other           *link // nil of a family with one link
}

func kindOf(l family) kind {
	_, target := likelihood.Describe(l)
	k := kind{counts: target == likelihood.Counts, classes: target == likelihood.Classes || target == likelihood.Grades}
	if named, ok := l.(likelihood.Named); ok {
		k.name = named.Name()
	}
	switch l := l.(type) {
	case likelihood.Gaussian:
		k.gaussian = true
	case likelihood.Poisson:
		k.fixedDispersion, k.other = true, otherLink(l, l.Link)
	case likelihood.Binomial:
		k.fixedDispersion = true
	case likelihood.Bernoulli:
		k.other = otherLink(l, l.Link)
	case likelihood.Ordinal:
		k.grades = len(l.Cutpoints.Values) + 1
	}
	return k
}

// column is an input of the model, or a column beside it.
type column struct {
	name     string
	values   []float64 // of the rows compared
	category bool
}

// sample holds the rows that are looked at.
type sample struct {
	kind        kind
	options     Options
	ws          *credence.Workspace
	name        string // of the target
	transformed bool   // the target is a function of a column already
	normal      bool   // so is the prior
	asked
	looks     *credence.Look    // of the targets of a Gaussian that are a column as it is, nil else
	sourceRow func(row int) int // of a row of the data

	place          []int // row of the data
	target         []float64
	family         []family  // of every row
	mean, variance []float64 // of f
	residual       []float64 // (y − E y)/SD y, both at the mean of f, corrected for leverage
	score          []float64 // d log p(y|f)/df at the mean of f
	information    []float64 // variance of the score, of a family whose mean is its natural statistic
	hash           []uint64  // of all that the model knows of the row
	surprise       []float64 // probability under the model of a target that is as extreme
	compared       []int     // rows whose inputs are kept
	inputs         []column  // of the rows compared
	columns        []*column // inputs that are numbers, which residuals are compared with
	time           string    // column by which the file is sorted, in the model or beside it
	keys           []column  // beside the model, of every row

	used    []int   // rows that are not left out
	share   float64 // error of each check
	copied  copied
	sorted  bool     // by the target
	extreme []int    // outliers
	least   float64  // probability of the most extreme row among so many
	counted *Finding // of the dispersion of counts
	view    view
}

// newSample reads the rows. It returns nil where the likelihood is none that the checks know, or where nothing can be
// said.
func newSample(ctx context.Context, fitted *credence.Fitted, data credence.Data, options Options) (*sample, error) {
	lik, ok := central(fitted).(family)
	if !ok {
		return nil, nil
	}
	s := &sample{kind: kindOf(lik), options: options, ws: credence.NewWorkspace(options.Threads), asked: askedOf(fitted), sourceRow: func(row int) int { return row }}
	fr, framed := fitted.Frame.(*frame.Frame)
	if framed {
		s.transformed = fr.Target != nil && len(fr.Target.Expr.Steps) > 0
		// those that say that a value is missing are categories
		for j := range fr.Inputs[:min(len(fr.Inputs), mostKept)] {
			in := &fr.Inputs[j]
			s.inputs = append(s.inputs, column{name: in.Name, category: in.Kind == credence.Category || in.Indicates})
		}
	}
	if fitted.Frame != nil {
		s.name = fitted.Frame.TargetName()
	}
	p := fitted.Members[0].Model.Prior
	_, s.normal = p.(prior.Normal)
	s.normal = s.normal || p == nil
	if placed, ok := data.(interface{ SourceRow(row int) int }); ok {
		s.sourceRow = placed.SourceRow
	}
	if err := s.read(ctx, lik, fitted, data); err != nil {
		return nil, err
	}
	for j := range s.inputs {
		if in := &s.inputs[j]; !in.category {
			s.columns = append(s.columns, in)
			if s.time == "" && ascends(in.values) {
				s.time = in.name
			}
		}
	}
	if framed {
		if err := s.readKeys(fr, data); err != nil {
			return nil, err
		}
	}
	for i := range s.target {
		s.used = append(s.used, i)
	}
	if s.bent() {
		return nil, nil
	}
	if s.kind.gaussian && s.name != "" && !s.transformed {
		if s.looks = fitted.Report.Target; s.looks == nil { // a family that was stated, or an older model
			s.looks = LookAt(s.name, s.target)
		}
	}
	return s, nil
}

// limitOf is how many rows are looked at of a posterior with a covariance of so many weights.
func limitOf(weights float64) int {
	if weights*weights*Rows > mostWork {
		return max(int(mostWork/(weights*weights)), credence.BlockRows)
	}
	return Rows
}

// Places returns which of so many rows [Of] reads under a posterior with a covariance of so many weights, in their
// order: the first block and those that are looked at.
func Places(rows, weights int) []int {
	places := problem.Evenly(rows, limitOf(float64(weights)), run)
	for i := range min(rows, credence.BlockRows) {
		places = append(places, i)
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// read reads the rows and what the model says of them.
func (s *sample) read(ctx context.Context, lik family, fitted *credence.Fitted, data credence.Data) error {
	d := 0.0
	switch q := fitted.Members[0].Posterior.(type) {
	case *posterior.Full, *posterior.Dual, *posterior.DualSum:
		d = float64(q.Weights())
	case *posterior.Arrow:
		d = float64(q.Dense)
	}
	limit := limitOf(d)
	all, err := problem.Open("criticism", credence.Model{Likelihood: lik}, data, problem.AllRoles)
	if err != nil {
		return err
	}
	all = all.Sample(limit, run)
	n, inputs := all.Count(), max(1, len(s.inputs))
	kept := min(n, max(fewestCompared, min(mostCells/min(inputs, mostColumns), keptCells/inputs)))
	for j := range s.inputs {
		s.inputs[j].values = make([]float64, 0, kept)
	}
	s.place, s.family, s.hash = make([]int, 0, n), make([]family, 0, n), make([]uint64, 0, n)
	for _, v := range [...]*[]float64{&s.target, &s.mean, &s.variance, &s.residual, &s.score, &s.information, &s.surprise} {
		*v = make([]float64, 0, n)
	}
	far := farthest(fitted)
	var batch credence.Batch
	var dist credence.Distribution
	for k := range all.Blocks() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := all.Read(ctx, &batch, k); err != nil {
			return err
		}
		if err := fitted.DistributionTo(s.ws, &dist, &batch); err != nil {
			return err
		}
		surprise := make([]float64, batch.Rows())
		dist.Each(s.ws, func(i int) {
			if row, ok := batch.LikelihoodOf(lik, i).(family); ok {
				surprise[i] = s.kind.surprise(&batch, &dist, row, far, i)
			}
		})
		for i := range batch.Rows() {
			if batch.WeightOf(i) == 0 {
				continue
			}
			mean, variance := dist.Latent(i)
			row, ok := batch.LikelihoodOf(lik, i).(family)
			if !ok || !s.add(row, all.Place(k, i), batch.Target[i], mean, variance) {
				continue
			}
			s.surprise = append(s.surprise, surprise[i])
			s.hash = append(s.hash, hashOf(&batch, i))
			// Of all rows the evenly spread ones whose inputs are kept.
			if at := k*credence.BlockRows + i; at > 0 && at*kept/n == (at-1)*kept/n {
				continue
			}
			s.compared = append(s.compared, len(s.target)-1)
			values := batch.X.Row(i)
			for j := range s.inputs {
				s.inputs[j].values = append(s.inputs[j].values, values[j])
			}
		}
	}
	return nil
}

// readKeys reads the columns beside the model that may be keys of groups: categories and whole numbers with 3 to n/3
// values among the rows.
func (s *sample) readKeys(fr *frame.Frame, data credence.Data) error {
	if _, placing := data.(interface{ SourceRow(row int) int }); !placing || s.options.Beside == nil {
		return nil
	}
	used := map[string]bool{}
	for _, c := range fr.Columns() {
		name, _ := credence.CutText(c.Name)
		used[name] = true
	}
	schema := s.options.Beside.Schema()
	var columns []int
	for j := range schema.Columns {
		c := &schema.Columns[j]
		if name, _ := credence.CutText(c.Name); !used[name] && c.Kind != credence.Boolean && len(columns) < MostKeys {
			columns = append(columns, j)
			s.terms[c.Name] = spec.Column{Name: c.Name}.String()
			s.keys = append(s.keys, column{name: c.Name, category: c.Kind == credence.Category, values: make([]float64, len(s.target))})
		}
	}
	var chunk credence.Chunk
	for from := 0; from < len(s.place) && len(columns) > 0; {
		to, first := from+1, s.sourceRow(s.place[from])
		for to < len(s.place) && s.sourceRow(s.place[to]) < first+credence.BlockRows {
			to++
		}
		if err := s.options.Beside.Read(&chunk, first, s.sourceRow(s.place[to-1])-first+1); err != nil {
			return err
		}
		for i := from; i < to; i++ {
			row := chunk.Values.Row(s.sourceRow(s.place[i]) - first)
			for k, j := range columns {
				s.keys[k].values[i] = row[j]
			}
		}
		from = to
	}
	s.keys = slices.DeleteFunc(s.keys, func(key column) bool {
		if s.time == "" && !key.category && ascends(key.values) {
			s.time = key.name
		}
		values := distinct(key.values)
		return values < 3 || 3*values > len(key.values) || !key.category && slices.ContainsFunc(key.values, func(v float64) bool { return v != math.Trunc(v) })
	})
	return nil
}

// bent says whether the fit follows its own rows so closely that their residuals tell nothing, being too
// small by factors that are not known: those of a posterior without any spread, which has no leverages.
// Normal residuals whose variances differ between 0 and 1, with a mean of r, have a kurtosis of up to 3/r.
func (s *sample) bent() bool {
	squares := 0.0
	for i, e := range s.residual {
		if !s.options.Fitted || s.variance[i] > 0 {
			return false
		}
		squares += e * e
	}
	return squares < 3/leastKurtosis*float64(len(s.residual))
}

// central is the likelihood of the model: where members differ in its parameters, that of the median of
// the first parameter.
func central(fitted *credence.Fitted) credence.Likelihood {
	if all := likelihoods(fitted); len(all) > 0 {
		return all[len(all)/2]
	}
	return nil
}

// farthest returns the likelihoods at both ends of what the members say of its parameters, ends that the
// truth is beyond with a probability below the error of a check. Members are a few quantiles and stop far
// short of them, while how likely a row is that is impossible hangs on the parameters more than
// anything: a hundred rows tell little of the degrees of freedom of a Student t, and which row is one in
// a million does not follow from their mean. There are none where the members do not differ.
func farthest(fitted *credence.Fitted) []credence.Likelihood {
	all := likelihoods(fitted)
	middle, ok := central(fitted).(likelihood.Parametric)
	if !ok || len(all) < 2 {
		return nil
	}
	// Members of equal weight stand in the middles of their shares, and logarithms are about normal.
	reach := special.NormalQuantile(1-leastError/2) / (2 * special.NormalQuantile(1-0.5/float64(len(all))))
	low, high := all[0].(likelihood.Parametric).Parameters(), all[len(all)-1].(likelihood.Parametric).Parameters()
	var below, above []float64
	differ := false
	for j, p := range middle.Parameters() {
		factor := math.Pow(high[j].Value/low[j].Value, reach)
		if !p.Positive || !(factor > 0) {
			return nil
		}
		differ = differ || factor != 1
		below, above = append(below, p.Value/factor), append(above, p.Value*factor)
	}
	if !differ {
		return nil
	}
	return []credence.Likelihood{middle.WithParameters(below), middle.WithParameters(above)}
}

// likelihoods returns those of the members, by their first parameter.
func likelihoods(fitted *credence.Fitted) (all []credence.Likelihood) {
	first := func(l credence.Likelihood) float64 {
		if parametric, ok := l.(likelihood.Parametric); ok && len(parametric.Parameters()) > 0 {
			return parametric.Parameters()[0].Value
		}
		return 0
	}
	for i := range fitted.Members {
		all = append(all, fitted.Members[i].Model.Likelihood)
	}
	slices.SortStableFunc(all, func(a, b credence.Likelihood) int { return cmp.Compare(first(a), first(b)) })
	return all
}

// hashOf is a hash of all that a model knows of row i of a batch but the target: FNV-1a over words.
func hashOf(b *credence.Batch, i int) uint64 {
	h := uint64(14695981039346656037)
	add := func(v uint64) { h = (h ^ v ^ v>>32) * 1099511628211 }
	for _, v := range b.X.Row(i) {
		add(math.Float64bits(v + 0)) // +0 of −0
	}
	columns, values := b.Sparse.Row(i)
	for k, j := range columns {
		add(uint64(j) + 1)
		if values != nil {
			add(math.Float64bits(values[k]))
		}
	}
	for _, role := range [...][]float64{b.Offset, b.Weight, b.Precision, b.Trials} {
		if role != nil {
			add(math.Float64bits(role[i]))
		}
	}
	return h
}

// add adds a row, unless its residual is no number.
func (s *sample) add(l family, place int, y, mean, variance float64) bool {
	centre, spread := moments(l, mean)
	const step = 1e-4
	below, _ := moments(l, mean-step)
	above, _ := moments(l, mean+step)
	slope := (above - below) / (2 * step)
	information := slope * slope / (spread * spread)
	leverage := math.Min(variance*information, largestLeverage)
	residual := (y - centre) / spread
	if s.options.Fitted {
		residual /= math.Sqrt(1 - leverage)
	} else {
		residual /= math.Sqrt(1 + variance*information)
	}
	_, score, _ := l.Derivatives(y, mean)
	for _, v := range [...]float64{residual, score, information, residual * residual * residual * residual} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	s.place, s.target = append(s.place, place), append(s.target, y)
	s.family = append(s.family, l)
	s.mean, s.variance = append(s.mean, mean), append(s.variance, variance)
	s.residual, s.score = append(s.residual, residual), append(s.score, score)
	s.information = append(s.information, information)
	return true
}

// moments returns the mean and the standard deviation of y, or the median and half the width of the
// central interval that a normal distribution has within a standard deviation, where there are none.
func moments(l family, f float64) (centre, spread float64) {
	centre, spread = l.Mean(f), math.Sqrt(l.Variance(f))
	if math.IsNaN(centre) || math.IsNaN(spread) || math.IsInf(spread, 0) {
		const below, above = 0.15865525393145707, 0.8413447460685429
		centre = l.PredictiveQuantile(0.5, f, 0)
		spread = (l.PredictiveQuantile(above, f, 0) - l.PredictiveQuantile(below, f, 0)) / 2
	}
	return centre, spread
}

// leaveOut takes rows out of those used.
func (s *sample) leaveOut(rows []int) {
	out := make([]bool, len(s.target))
	for _, i := range rows {
		out[i] = true
	}
	s.used = slices.DeleteFunc(slices.Clone(s.used), func(i int) bool { return out[i] })
}
