package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/modelfile"
)

// inspectFlags are the flags of inspect.
type inspectFlags struct {
	interval float64
	top      int
	sort     string
}

func (p *program) inspectCommand() *cobra.Command {
	var flags inspectFlags
	cmd := &cobra.Command{
		Use:   "inspect MODEL",
		Short: "Show what a model learned",
		Long: `Inspect shows how a model was fitted and what it learned: hyper-parameters,
evidence, and every weight with its posterior mean, standard deviation and interval.
Weights of plain columns are on the data's own scale, before any centring and scaling.`,
		Example: `  credence inspect m.safetensors
  credence inspect m.safetensors --top 10 --sort abs
  credence inspect m.safetensors --json | jq '.terms[] | select(.block == "linear")'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.inspect(args[0], &flags) },
	}
	f := cmd.Flags()
	f.Float64Var(&flags.interval, "interval", 0.9, "probability of the interval from lower to upper")
	f.IntVar(&flags.top, "top", 0, "show so many weights; 0 shows all with --json, and 20 otherwise")
	f.StringVar(&flags.sort, "sort", "", "inclusion, abs (|mean| over sd) or name; the default is the order of the model")
	return cmd
}

// termRow is a weight as inspect shows it.
type termRow struct {
	Block     string   `json:"block"`
	Name      string   `json:"name"`
	Mean      float64  `json:"mean"`
	SD        float64  `json:"sd"`
	Lower     float64  `json:"lower"`
	Upper     float64  `json:"upper"`
	Inclusion *float64 `json:"inclusion,omitempty"`
}

// inspection is the JSON object of inspect.
type inspection struct {
	fitResult
	Terms []termRow `json:"terms"`
}

func (p *program) inspect(path string, flags *inspectFlags) error {
	if !(flags.interval > 0 && flags.interval < 1) {
		return misused(fmt.Errorf("--interval %v is not a probability between 0 and 1", flags.interval))
	}
	if flags.top < 0 {
		return misused(fmt.Errorf("--top %d is negative", flags.top))
	}
	if !slices.Contains([]string{"", "inclusion", "abs", "name"}, flags.sort) {
		return misused(fmt.Errorf("--sort %s is unknown: use inclusion, abs or name", flags.sort))
	}
	fitted, err := modelfile.Load(path)
	if err != nil {
		return err
	}
	terms := termsOf(fitted, flags.interval)
	sortTerms(terms, flags.sort)
	all := len(terms)
	top := flags.top
	if top == 0 && !p.json {
		top = 20
	}
	if top > 0 && top < all {
		terms = terms[:top]
	}
	result := newFitResult(fitted)
	if p.json {
		result.Model = path
		return p.emit(inspection{result, terms})
	}
	p.say("model   %s", path)
	p.printFit(&result)
	p.printTerms(terms, all)
	if result.Engine == "sep" {
		p.say("\nThe spread of weights is that of the approximation, and too narrow: in simulations 90 %% intervals hold 60 to 80 %% of them.")
	}
	return nil
}

// termsOf returns the weights of the first member on the data's own scale.
func termsOf(fitted *credence.Fitted, interval float64) []termRow {
	member := fitted.Members[0]
	features := member.Model.Features
	d := features.Weights()
	mean, variance := make([]float64, d), make([]float64, d)
	member.Posterior.Marginals(mean, variance)
	named, _ := features.(credence.Named)
	rescaled, _ := features.(credence.Rescaled)
	selector, selects := member.Posterior.(credence.Selector)
	z := special.NormalQuantile((1 + interval) / 2)

	terms := make([]termRow, 0, d)
	shift := 0.0
	intercept := -1
	for _, block := range features.Blocks() {
		for k := range block.Count {
			j := block.First + k
			t := termRow{Block: block.Name, Name: fmt.Sprintf("%d", k+1), Mean: mean[j], SD: math.Sqrt(variance[j])}
			if named != nil {
				t.Name = named.WeightName(j)
			}
			if rescaled != nil {
				factor, weightShift := rescaled.OwnScale(j)
				shift += weightShift * mean[j]
				t.Mean *= factor
				t.SD *= math.Abs(factor)
			}
			if block.Intercept {
				intercept = len(terms)
			}
			if selects && selector.Selects() {
				probability := selector.InclusionProbability(j)
				t.Inclusion = &probability
			}
			terms = append(terms, t)
		}
	}
	if intercept >= 0 {
		terms[intercept].Mean += shift
		if sd, ok := interceptSD(member); ok {
			terms[intercept].SD = sd
		}
	}
	for i := range terms {
		terms[i].Lower = terms[i].Mean - z*terms[i].SD
		terms[i].Upper = terms[i].Mean + z*terms[i].SD
	}
	return terms
}

// interceptSD returns the posterior standard deviation of the intercept on the
// data's own scale. It is that of f at the row whose columns are 0 on that
// scale, in the blocks that can be expressed there.
func interceptSD(member credence.Member) (float64, bool) {
	features := member.Model.Features
	rescaled, ok := features.(credence.Rescaled)
	if !ok {
		return 0, false
	}
	d := features.Weights()
	var phi credence.Design
	phi.Dense.Reshape(1, d)
	clear(phi.Dense.Data)
	for _, block := range features.Blocks() {
		for k := range block.Count {
			j := block.First + k
			if block.Intercept {
				phi.Dense.Data[j] = 1
				continue
			}
			_, phi.Dense.Data[j] = rescaled.OwnScale(j)
		}
	}
	shape, ok := member.Model.Features.(interface{ DenseWeights() int })
	if ok {
		splitDesign(&phi, shape.DenseWeights())
	}
	mean, variance := make([]float64, 1), make([]float64, 1)
	member.Posterior.Latent(credence.NewWorkspace(1), mean, variance, &phi)
	return math.Sqrt(variance[0]), true
}

// splitDesign moves the columns from dense on to the sparse part.
func splitDesign(phi *credence.Design, dense int) {
	row := phi.Dense.Data
	var columns []int32
	var values []float64
	for j, v := range row[dense:] {
		if v != 0 {
			columns, values = append(columns, int32(j)), append(values, v)
		}
	}
	phi.Sparse.Reset(len(row) - dense)
	phi.Sparse.AppendRow(columns, values)
	phi.Dense.Cols, phi.Dense.Stride, phi.Dense.Data = dense, dense, row[:dense]
}

// sortTerms orders the weights: by inclusion or by |mean|/sd descending, or by
// name; ties keep the order of the model.
func sortTerms(terms []termRow, by string) {
	strength := func(t termRow) float64 {
		if t.SD == 0 {
			return math.Abs(t.Mean)
		}
		return math.Abs(t.Mean) / t.SD
	}
	switch by {
	case "inclusion":
		slices.SortStableFunc(terms, func(a, b termRow) int {
			if a.Inclusion != nil && b.Inclusion != nil && *a.Inclusion != *b.Inclusion {
				return cmp.Compare(*b.Inclusion, *a.Inclusion)
			}
			return cmp.Compare(strength(b), strength(a))
		})
	case "abs":
		slices.SortStableFunc(terms, func(a, b termRow) int { return cmp.Compare(strength(b), strength(a)) })
	case "name":
		slices.SortStableFunc(terms, func(a, b termRow) int { return cmp.Compare(a.Name, b.Name) })
	}
}

// printTerms writes the weights for people.
func (p *program) printTerms(terms []termRow, all int) {
	if p.quiet {
		return
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	header, withInclusion := "\nblock\tname\tmean\tsd\tlower\tupper\t", len(terms) > 0 && terms[0].Inclusion != nil
	if withInclusion {
		header += "inclusion\t"
	}
	fmt.Fprintln(w, header)
	for _, t := range terms {
		fmt.Fprintf(w, "%s\t%s\t%.5g\t%.4g\t%.5g\t%.5g\t", printable(t.Block), printable(t.Name), t.Mean, t.SD, t.Lower, t.Upper)
		if withInclusion {
			fmt.Fprintf(w, "%.4f\t", *t.Inclusion)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	if len(terms) < all {
		p.say("… and %d more; --top %d shows all", all-len(terms), all)
	}
}
