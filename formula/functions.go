package formula

import (
	"slices"

	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// function is a compiled term that is a block of its own.
type function struct {
	kind    string // the function's name, or "interaction"
	node    spec.Node
	label   string
	inputs  []int // of the frame
	segment bool  // the sparse segment takes part, after the inputs
	without []int32

	degree      int                 // poly
	count       int                 // frequencies, centres, knots or harmonics; 0 means the default
	period      float64             // s, periodic
	kernel      string              // hsgp and random features
	functions   []int               // hsgp, of each column; nil means the default
	boundary    float64             // hsgp; 0 means the default
	sampling    feature.Sampling    // random features
	lengthscale feature.Lengthscale // random features and bumps
	frequencies []float64           // given by the user, else nil
	times       []function          // further kernels of a product
	component   int                 // spectral: which one, of how many
	components  int
	periods     param.List // spectral: those stated, of the components in order
	suffix      string     // of the name, behind what the formula writes

	crosses [][]int  // hash: the inputs of each product
	bits    int      // hash: of the keys
	except  []string // names that the sparse segment leaves out

	bar *bar // of terms of groups, whose key is inputs

	again bool // the same stands before
}

// dimension is the number of columns that the function takes.
func (f *function) dimension(segment int) int {
	d := len(f.inputs)
	if f.segment {
		d += segment - len(f.without)
	}
	for k := range f.times {
		d += f.times[k].dimension(segment)
	}
	return d
}

// newFunction starts a function term; its name is the call without key=value
// arguments.
func newFunction(call spec.Call) function {
	bare := call
	bare.Named = nil
	return function{kind: call.Name, node: call, label: bare.String()}
}

func (c *compiler) oneHot(call spec.Call) error {
	a := c.arguments(call)
	args := a.Positional()
	if err := a.Finish(); err != nil {
		return err
	}
	if len(args) != 1 {
		return c.formula.Errorf(call, "onehot takes one column, not %d", len(args)).WithRemedy("write onehot(zip), once for each column")
	}
	e, err := c.level(args[0])
	if err != nil {
		return err
	}
	f := newFunction(call)
	f.inputs = []int{c.input(e)}
	c.plan.functions = append(c.plan.functions, f)
	return nil
}

func (c *compiler) poly(call spec.Call) error {
	a := c.arguments(call)
	args := a.Positional()
	degree := a.Means("the highest power", "").Int("degree", 0, spec.Between(1, feature.LargestDegree))
	if !a.Has("degree") {
		if len(args) < 2 {
			a.Errorf(call, "poly needs columns and a degree").WithRemedy("write such as poly(x, 3)")
		} else {
			last := args[len(args)-1]
			if _, ok := last.(spec.Number); !ok {
				a.Errorf(last, "the degree is missing").WithRemedy("end with a number, such as poly(x, 3)")
			}
			degree, _ = a.Whole("degree", last, spec.Between(1, feature.LargestDegree))
			args = args[:len(args)-1]
		}
	}
	if err := a.Finish(); err != nil {
		return err
	}
	f := newFunction(call)
	f.degree = degree
	if err := c.takeDense(&f, call, args); err != nil {
		return err
	}
	c.plan.functions = append(c.plan.functions, f)
	return nil
}

// takeDense gives f its columns, those of the sparse segment as dense inputs.
func (c *compiler) takeDense(f *function, call spec.Call, args []spec.Expr) error {
	inputs, segment, without, err := c.group(call, args)
	if err != nil {
		return err
	}
	if segment {
		for k := range c.schema.Sparse {
			if !slices.Contains(without, int32(k)) {
				inputs = append(inputs, c.input(frame.Column(c.schema.SparseName(k))))
			}
		}
	}
	f.inputs = inputs
	return nil
}

func (c *compiler) bumps(call spec.Call) error {
	a := c.arguments(call)
	f := newFunction(call)
	args := a.Positional()
	f.count = a.Means("how many centres, taken among the rows", "50, no more than different rows").Int("centres", 0, spec.Between(1, mostCentres))
	if err := c.takeDense(&f, call, args); err != nil {
		return err
	}
	c.lengthscale(&f, a, spec.Positive())
	if err := a.Finish(); err != nil {
		return err
	}
	c.plan.functions = append(c.plan.functions, f)
	return nil
}

// lengthscale reads lengthscale=, which lies in allowed, ard= and lengthscale_prior=.
func (c *compiler) lengthscale(f *function, a *spec.Arguments, allowed ...spec.Range) {
	s := a.Means("how far apart rows are alike, in standard deviations of the column; a list has one for each", "").Settings("lengthscale", allowed...)
	shared := !a.Means("a lengthscale for every column, or one for all", "").Bool("ard", true)
	prior := a.Means("prior of the logarithm of learned lengthscales", "").Word("lengthscale_prior", "normal", "none", "normal")
	f.lengthscale = feature.Lengthscale{
		Values: s.Values, State: s.State, Shared: shared, NoPrior: prior == "none",
	}
	if len(s.Values) < 2 {
		return
	}
	written, _ := a.Argument("lengthscale")
	switch d := f.dimension(c.schema.Sparse); {
	case shared:
		a.Errorf(written.Value, "ard=false means one lengthscale, not %d", len(s.Values)).WithRemedy("write a single number, or leave out ard=false")
	case c.open && slices.ContainsFunc(a.Positional(), func(e spec.Expr) bool { return holds(e, isDot) }):
		// The table decides how many columns take part.
	case len(s.Values) != d:
		a.Errorf(written.Value, "%d lengthscales are given for %d columns", len(s.Values), d).WithRemedy("give %d, or a single one for all", d)
	}
}

func isDot(e spec.Expr) bool { _, is := e.(spec.Dot); return is }
