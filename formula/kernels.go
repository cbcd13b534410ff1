package formula

import (
	"slices"
	"strings"

	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/spec"
)

// mostFrequencies bounds n=, whose double is the number of weights.
const mostFrequencies = 1 << 20

// isKernel says whether a function is one of random features of a kernel.
func isKernel(name string) bool {
	return slices.Contains([]string{"rbf", "laplacian", "cauchy", "matern12", "matern32", "matern52"}, name)
}

func (c *compiler) fourier(call spec.Call) error {
	f, err := c.kernel(call)
	if err == nil {
		c.plan.functions = append(c.plan.functions, f)
	}
	return err
}

// kernel compiles a call of a kernel.
func (c *compiler) kernel(call spec.Call) (function, error) {
	a := c.arguments(call)
	f := newFunction(call)
	f.kernel = call.Name
	args := a.Positional()
	f.count = a.Means("frequencies, two weights each", "50 for one column, 100 for two, 250 to 1,000 for more, never more than different values").Int("n", 0, spec.Between(1, mostFrequencies))
	samplings := []string{string(feature.Quasi), string(feature.IID), string(feature.Orthogonal), string(feature.Fastfood)}
	kind, hasKind := a.Argument("kind")
	f.sampling = feature.Sampling(a.Means("how frequencies are drawn", "quasi for one column or two, else orthogonal, or iid; fastfood is for hundreds of columns").Word("kind", "", samplings...))
	var err error
	if f.inputs, f.segment, f.without, err = c.group(call, args); err != nil {
		return f, err
	}
	c.plan.Frame.Sparse = c.plan.Frame.Sparse || f.segment
	c.lengthscale(&f, a, spec.Positive())
	path := a.Means("frequencies of your own, in place of drawn ones", "").File("frequencies")
	if err := a.Finish(); err != nil {
		return f, err
	}
	if k := feature.Kernel(call.Name); (f.sampling == feature.Orthogonal || f.sampling == feature.Fastfood) && (k == feature.Laplacian || k == feature.Cauchy) {
		return f, c.formula.Errorf(kind, "%s frequencies are not defined for %s, a product over its columns", f.sampling, call.Name).WithRemedy("write kind=iid")
	}
	if path != "" {
		given, _ := a.Argument("frequencies")
		if n, ok := a.Argument("n"); ok {
			return f, c.formula.Errorf(n, "n= is the number of rows of frequencies=").WithRemedy("leave out n=")
		}
		if hasKind {
			return f, c.formula.Errorf(kind, "kind= says how to draw frequencies, and frequencies= gives them").WithRemedy("leave out one of the two")
		}
		if c.options.ReadFile == nil {
			return f, c.formula.Errorf(given, "the formula names a file, and no one opens it").WithRemedy("pass a reader of files, such as os.ReadFile, if whoever writes the formula may read them")
		}
		c.plan.files = append(c.plan.files, path)
		if !c.open {
			if f.frequencies, err = c.readFrequencies(&f, given, path); err != nil {
				return f, err
			}
		}
	}
	return f, nil
}

// holds says whether some operand of an expression of operators is such a one.
func holds(e spec.Expr, is func(spec.Expr) bool) bool {
	b, ok := e.(spec.Binary)
	return ok && (holds(b.Left, is) || holds(b.Right, is)) || is(e)
}

func isKernelCall(e spec.Expr) bool {
	call, ok := e.(spec.Call)
	return ok && isKernel(call.Name)
}

// kernels compiles products of kernels, each of which is one term.
func (c *compiler) kernels(e spec.Binary) error {
	products, err := c.expandKernels(e)
	if err != nil {
		return err
	}
	for _, product := range products {
		if len(product) == 1 {
			if err := c.fourier(product[0]); err != nil {
				return err
			}
			continue
		}
		if err := c.kernelProduct(e, product); err != nil {
			return err
		}
	}
	return nil
}

// expandKernels multiplies an expression out to products of kernels.
func (c *compiler) expandKernels(e spec.Expr) (products [][]spec.Call, err error) {
	if call, ok := e.(spec.Call); ok && isKernel(call.Name) {
		return [][]spec.Call{{call}}, nil
	}
	b, ok := e.(spec.Binary)
	if !ok || b.Op == spec.Minus {
		return nil, c.formula.Errorf(e, "%s is no kernel, and kernels multiply with kernels alone", spec.Clip(e.String())).
			WithRemedy("write a kernel of it, such as rbf(x):matern32(t), or a term of its own")
	}
	left, right, err := both(b, c.expandKernels)
	if err != nil {
		return nil, err
	}
	if b.Op != spec.Interaction {
		products = append(append(products, left...), right...)
	}
	if b.Op != spec.Plus {
		for _, l := range left {
			for _, r := range right {
				products = append(products, slices.Concat(l, r))
			}
		}
	}
	if len(products) > mostKernelProducts {
		return nil, c.formula.Errorf(e, "this multiplies out to more than %d products of kernels", mostKernelProducts).WithRemedy("name fewer")
	}
	return products, nil
}

// mostKernelProducts bounds the terms that one expression multiplies out to.
const mostKernelProducts = 1000

// kernelProduct compiles a product of kernels.
func (c *compiler) kernelProduct(e spec.Binary, calls []spec.Call) error {
	var product function
	var names, keys []string
	for k, call := range calls {
		f, err := c.kernel(call)
		if err != nil {
			return err
		}
		names, keys = append(names, f.label), append(keys, call.String())
		switch n, ok := c.plan.read.Argument("n"); {
		case f.segment:
			return c.formula.Errorf(call, "a product of kernels takes columns by name, and . holds a sparse segment").WithRemedy("name the columns")
		case f.frequencies != nil || f.sampling == feature.Fastfood || f.sampling == feature.Quasi:
			return c.formula.Errorf(call, "a product of kernels draws frequencies of its own: orthogonal ones, or those of kind=iid").WithRemedy("leave out frequencies= and kind=")
		case k == 0:
			product = f
			continue
		case ok && f.count != product.count:
			return c.formula.Errorf(n, "the kernels of a product have one number of frequencies").WithRemedy("write n= in the first, or the same in both")
		case f.sampling != product.sampling && f.sampling != "":
			kind, _ := c.plan.read.Argument("kind")
			return c.formula.Errorf(kind, "the kernels of a product are drawn in one way").WithRemedy("write kind= in the first, or the same in both")
		}
		product.times = append(product.times, f)
	}
	slices.Sort(keys)
	key := "kernels " + strings.Join(keys, ":")
	product.kind, product.label = "product", strings.Join(names, ":")
	if c.product[key] {
		c.warnTwice(product.label)
		return nil
	}
	c.product[key] = true
	node := spec.Expr(calls[0])
	for _, call := range calls[1:] {
		node = spec.Binary{Position: e.Position, Op: spec.Interaction, Left: node, Right: call}
	}
	product.node = node
	c.plan.functions = append(c.plan.functions, product)
	return nil
}
