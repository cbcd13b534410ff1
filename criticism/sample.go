package criticism

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

const (
	// run is the number of neighbouring rows that are read at once.
	run = 16
	// mostWork bounds rows times squared weights, which a prediction of full covariance costs.
	mostWork = 5e8
	// mostKeys is the number of columns beside the model that are looked at.
	mostKeys = 10
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

// column is an input of the model, or a column beside it.
type column struct {
	name     string
	values   []float64 // of the rows compared, as the model has them
	category bool
	centre   float64 // of the values, and their scale, as the data have them
	scale    float64
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
	without        []float64 // the mean of f without the row, of a normal distribution
	residual       []float64 // (y − E y)/SD y, both at the mean of f, corrected for leverage
	score          []float64 // d log p(y|f)/df at the mean of f
	information    []float64 // variance of the score, of a family whose mean is its natural statistic
	hash           []uint64  // of all that the model knows of the row
	surprise       []float64 // probability under the model of a target that is as extreme
	compared       []int     // rows whose inputs are kept
	inputs         []column  // of the rows compared
	columns        []*column // inputs that are numbers, which residuals are compared with
	time           string    // column by which the file is sorted, in the model or beside it
	clock          bool      // which holds dates
	beside         []float64 // its values in every row, where it is beside the model
	keys           []column  // beside the model, of every row

	vague   bool    // how large residuals are is not known
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
			s.inputs = append(s.inputs, column{name: in.Name, category: in.Kind == credence.Category || in.Indicates, centre: in.Center, scale: cmp.Or(in.Scale, 1)})
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
	if s.time != "" && framed {
		s.clock = fr.Reading.Notations[s.time].Date != "" || s.options.Beside != nil && s.options.Beside.Schema().Reading.Notations[s.time].Date != ""
	}
	for i := range s.target {
		s.used = append(s.used, i)
	}
	if s.bent() {
		return nil, nil
	}
	s.vague = s.isVague(fitted.Report.HyperSD.Of("noise_variance", 0), fitted.Members[0].Posterior.Weights())
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
	for _, v := range [...]*[]float64{&s.target, &s.mean, &s.variance, &s.without, &s.residual, &s.score, &s.information, &s.surprise} {
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

// Outside names the columns of a table that may be keys of groups of a model, which needs others.
func Outside(schema *credence.Schema, needs []string) []string {
	used := map[string]bool{}
	for _, name := range needs {
		name, _ = credence.CutText(name)
		used[name] = true
	}
	var columns []string
	for i := range schema.Columns {
		c := &schema.Columns[i]
		if name, _ := credence.CutText(c.Name); !used[name] && c.Kind != credence.Boolean && len(columns) < mostKeys {
			columns = append(columns, c.Name)
		}
	}
	return columns
}

// readKeys reads the columns beside the model that may be keys of groups: categories and whole numbers with 3 to n/3
// values among the rows.
func (s *sample) readKeys(fr *frame.Frame, data credence.Data) error {
	if _, placing := data.(interface{ SourceRow(row int) int }); !placing || s.options.Beside == nil {
		return nil
	}
	schema := s.options.Beside.Schema()
	var columns []int
	for _, name := range Outside(schema, fr.Needs(true)) {
		j := schema.Index(name)
		columns = append(columns, j)
		s.terms[name] = spec.Column{Name: name}.String()
		s.keys = append(s.keys, column{name: name, category: schema.Columns[j].Kind == credence.Category, values: make([]float64, len(s.target))})
	}
	var chunk credence.Chunk
	if len(columns) == 0 {
		return nil
	}
	at := func(i int) int { return s.sourceRow(s.place[i]) }
	for from, to := range order.Runs(len(s.place), func(first, other int) bool { return at(other) < at(first)+credence.BlockRows }) {
		first := at(from)
		if err := s.options.Beside.Read(&chunk, first, at(to-1)-first+1); err != nil {
			return err
		}
		for i := from; i < to; i++ {
			row := chunk.Values.Row(at(i) - first)
			for k, j := range columns {
				s.keys[k].values[i] = row[j]
			}
		}
	}
	s.keys = slices.DeleteFunc(s.keys, func(key column) bool {
		if s.time == "" && !key.category && ascends(key.values) {
			s.time, s.beside = key.name, key.values
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

const (
	// mostLeverage is the mean leverage up to which a residual that is enlarged by it, in variance by a third, has
	// about the distribution that those of the family's own draws have.
	mostLeverage = 0.25
	// mostUnknown is how much of its own residual may be left in the prediction without a row, of more weights than
	// rows: there all that a prediction varies by may be such shares.
	mostUnknown = 0.1
)

// isVague says whether the sizes of residuals of a fit tell nothing of its family, since they are unknown, in one row
// more than in the next. A leverage h of a posterior that shrinks is V/σ², V next to what the prior has, so that 1 − h,
// by which a residual is enlarged, is unknown by h·sd of itself, sd the standard deviation of log σ² of a normal
// distribution: residuals whose variances differ by as much have a kurtosis of 3 (1 + (h·sd)²). Others are not enlarged
// to what they were without their row, nor is a prediction by more weights than rows freed of its own row.
func (s *sample) isVague(sd float64, weights int) bool {
	if !s.options.Fitted || s.kind.fixedDispersion || s.kind.classes || len(s.variance) == 0 {
		return false
	}
	leverage := 0.0
	for i, v := range s.variance {
		leverage += v * s.information[i] / float64(len(s.variance))
	}
	wide, unknown := weights > len(s.target), leverage*sd
	if s.kind.gaussian {
		return 3*(1+unknown*unknown) > leastKurtosis || wide && unknown > mostUnknown
	}
	return leverage > mostLeverage || leverage > 0 && wide
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
	information := informationAt(l, mean)
	leverage := math.Min(variance*information, largestLeverage)
	residual := (y - centre) / spread
	if s.options.Fitted {
		residual /= math.Sqrt(1 - leverage)
	} else {
		residual /= math.Sqrt(1 + variance*information)
	}
	_, score, _ := l.Derivatives(y, mean)
	without := mean
	if s.options.Fitted && s.kind.gaussian {
		without -= variance * score / (1 - leverage)
	}
	for _, v := range [...]float64{residual, score, information, without, residual * residual * residual * residual} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	s.place, s.target = append(s.place, place), append(s.target, y)
	s.family = append(s.family, l)
	s.mean, s.variance, s.without = append(s.mean, mean), append(s.variance, variance), append(s.without, without)
	s.residual, s.score = append(s.residual, residual), append(s.score, score)
	s.information = append(s.information, information)
	return true
}

// informationAt is the square of the slope of E y in f, over the variance of y.
func informationAt(l family, f float64) float64 {
	_, spread := moments(l, f)
	if _, ok := l.(likelihood.Additive); ok { // f has any unit, to which no step is the right one
		return 1 / (spread * spread)
	}
	const step = 1e-4
	below, _ := moments(l, f-step)
	above, _ := moments(l, f+step)
	slope := (above - below) / (2 * step)
	return slope * slope / (spread * spread)
}

// leaveOut takes rows out of those used.
func (s *sample) leaveOut(rows []int) {
	out := make([]bool, len(s.target))
	for _, i := range rows {
		out[i] = true
	}
	s.used = slices.DeleteFunc(slices.Clone(s.used), func(i int) bool { return out[i] })
}
