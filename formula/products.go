package formula

import (
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/spec"
)

// products compiles interactions and crosses.
func (c *compiler) products(e spec.Binary) error {
	products, err := c.expand(e)
	if err != nil {
		return err
	}
	for _, product := range products {
		hashed := slices.ContainsFunc(product, func(x frame.Expr) bool { return x.Keyed })
		if len(product) == 1 && !hashed {
			c.addLinear(product[0])
			continue
		}
		k := productKey(product)
		names := make([]string, len(product))
		for i, x := range product {
			if names[i] = x.String(); x.Keyed {
				names[i] = "hash(" + names[i] + ")"
			}
		}
		label := strings.Join(names, ":")
		if len(products) == 1 && c.written[k] {
			c.warnTwice(label)
		}
		c.written[k] = len(products) == 1
		if c.product[k] || c.cut[k] {
			continue
		}
		c.product[k] = true
		f := function{kind: "interaction", node: e, label: label}
		for _, x := range product {
			f.inputs = append(f.inputs, c.input(x))
		}
		if hashed {
			if len(product) > keyed.MaxCross {
				return c.formula.Errorf(e, "%s crosses %d columns", spec.Clip(e.String()), len(product)).WithRemedy("cross up to %d", keyed.MaxCross)
			}
			f.kind, f.crosses, f.inputs = "hash", [][]int{f.inputs}, nil
		}
		c.plan.functions = append(c.plan.functions, f)
	}
	return nil
}

// productKey identifies a product whatever the order of its factors.
func productKey(product []frame.Expr) string {
	keys := make([]string, len(product))
	for i, x := range product {
		keys[i] = key(x)
	}
	slices.Sort(keys)
	return strings.Join(keys, "\x00:")
}

// expand multiplies an expression out to products of columns, each of at least
// one factor.
func (c *compiler) expand(e spec.Expr) ([][]frame.Expr, error) {
	switch e := e.(type) {
	case spec.Column:
		return c.factor(e)
	case spec.Dot:
		if c.schema.Sparse > 0 || c.options.Namespaces {
			return nil, c.formula.Errorf(e, ". holds a sparse segment, which cannot be part of an interaction").WithRemedy("name the columns")
		}
		var all [][]frame.Expr
		for _, name := range c.dot {
			all = append(all, []frame.Expr{frame.Column(name)})
		}
		return all, nil
	case spec.Call:
		if isOneHot(e) {
			x, err := c.level(e.Args[0])
			return [][]frame.Expr{{x}}, err
		}
		if e.Name == "hash" {
			return c.hashed(e)
		}
		if _, ok := transform(e.Name); ok {
			return c.factor(e)
		}
		if e.IsBar() {
			return nil, c.formula.Errorf(e, "%s cannot be part of an interaction", spec.Clip(e.String())).WithRemedy("write what varies by group within it, such as (x | g)")
		}
		if isKernel(e.Name) {
			return nil, c.formula.Errorf(e, "%s(…) is a kernel, and kernels multiply with kernels alone", e.Name).WithRemedy("write %s(x):%[1]s(z) for a function of both, or %[1]s(x) + x:z for a curve and slopes that differ", e.Name)
		}
		if e.Name == "s" || e.Name == "hsgp" || e.Name == "periodic" || e.Name == "spectral" {
			return nil, c.formula.Errorf(e, "%s(…) cannot be part of an interaction", e.Name).WithRemedy("write %s(x) + x:z for a curve and slopes that differ", e.Name)
		}
		if known(e.Name) {
			return nil, c.formula.Errorf(e, "%s(…) cannot be part of an interaction", e.Name).WithRemedy("write columns or transforms of columns, such as a:b or log(a):b")
		}
		return nil, unknownFunction(c.formula.Source, e)
	case spec.Binary:
		left, right, err := both(e, c.expand)
		if err != nil {
			return nil, err
		}
		return c.combine(e, left, right)
	}
	return nil, c.formula.Errorf(e, "%s cannot be part of an interaction", spec.Clip(e.String())).WithRemedy("write columns or transforms of columns, such as a:b or log(a):b")
}

// both reads the operands of an operator.
func both[T any](e spec.Binary, read func(spec.Expr) (T, error)) (left, right T, err error) {
	if left, err = read(e.Left); err == nil {
		right, err = read(e.Right)
	}
	return left, right, err
}

// factor is a single column of a product.
func (c *compiler) factor(e spec.Expr) ([][]frame.Expr, error) {
	x, _, err := c.column(e)
	return [][]frame.Expr{{x}}, err
}

// combine applies an operator to two sums of products.
func (c *compiler) combine(e spec.Binary, left, right [][]frame.Expr) ([][]frame.Expr, error) {
	if len(left)*len(right) > MostProducts || len(left)+len(right) > MostProducts {
		return nil, c.formula.Errorf(e, "this multiplies out to more than %d interactions", MostProducts).WithRemedy("name fewer columns")
	}
	switch e.Op {
	case spec.Plus:
		return append(left, right...), nil
	case spec.Minus:
		out := map[string]bool{}
		for _, product := range right {
			out[productKey(product)] = true
		}
		return slices.DeleteFunc(left, func(product []frame.Expr) bool { return out[productKey(product)] }), nil
	}
	for _, factor := range slices.Concat(slices.Concat(left, right)...) {
		if name, _ := credence.CutText(factor.Column); !c.options.Namespaces && c.dense(name) < 0 && c.segmentIndex(name) < 0 && c.isNamespace(name) {
			return nil, c.formula.Errorf(e, "%s is a namespace, and a table has no products of namespaces", name).WithRemedy("use stream, which forms %s row by row", spec.Clip(e.String()))
		}
	}
	var all [][]frame.Expr
	if e.Op == spec.Cross {
		all = append(append(all, left...), right...)
	}
	for _, a := range left {
		for _, b := range right {
			twice := slices.ContainsFunc(a, func(x frame.Expr) bool {
				return slices.ContainsFunc(b, func(y frame.Expr) bool { return key(x) == key(y) })
			})
			if !twice || c.options.Namespaces {
				all = append(all, append(slices.Clone(a), b...))
			} else if len(left) == 1 && len(right) == 1 {
				return nil, c.formula.Errorf(e, "%s multiplies a column with itself", spec.Clip(e.String())).WithRemedy("write square(x) or poly(x, 2) for powers")
			}
		}
	}
	return all, nil
}
