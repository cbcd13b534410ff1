package formula

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/spec"
)

// hash compiles hash(c…, bits=): one feature for each key of the columns' levels, and of each of
// their products.
func (c *compiler) hash(call spec.Call) error {
	a := c.arguments(call)
	args := a.Positional()
	f := newFunction(call)
	f.bits = a.Means("bits of a key: two texts of one key share a weight", "a number for each text that training met").Int("bits", 0, spec.Between(1, keyed.MaxBits))
	if err := a.Finish(); err != nil {
		return err
	}
	if len(args) == 0 {
		return c.formula.Errorf(call, "hash needs a column").WithRemedy("write hash(c), or hash(.) for every other column")
	}
	known, spaces := map[string]bool{}, map[string]bool{}
	for _, arg := range args {
		if column, ok := arg.(spec.Column); ok && c.dense(column.Name) < 0 && c.isNamespace(column.Name) {
			spaces[column.Name] = true
			continue
		}
		products, err := c.levels(&f, arg)
		if err != nil {
			return err
		}
		for _, product := range products {
			k := productKey(product)
			if known[k] {
				continue
			}
			known[k] = true
			if len(product) > keyed.MaxCross {
				return c.formula.Errorf(arg, "%s crosses %d columns", spec.Clip(arg.String()), len(product)).WithRemedy("cross up to %d", keyed.MaxCross)
			}
			inputs := make([]int, len(product))
			for i, x := range product {
				inputs[i] = c.input(x)
			}
			f.crosses = append(f.crosses, inputs)
		}
	}
	if len(f.crosses) == 1 && f.bits == 0 && !f.segment && len(spaces) == 0 {
		// hash(a)*b has hash(a) too.
		product := make([]frame.Expr, len(f.crosses[0]))
		for i, input := range f.crosses[0] {
			product[i] = c.plan.Frame.Inputs[input]
		}
		if k := productKey(product); c.product[k] {
			c.warnTwice(call.String())
			return nil
		} else {
			c.product[k] = true
		}
	}
	if len(spaces) > 0 && !f.segment {
		f.segment, f.without = true, c.namespaceColumns(func(space string) bool { return !spaces[space] })
	}
	c.plan.Frame.Sparse = c.plan.Frame.Sparse || f.segment
	c.plan.functions = append(c.plan.functions, f)
	return nil
}

// hashed are the products of hash(c…) as a factor of an interaction.
func (c *compiler) hashed(call spec.Call) ([][]frame.Expr, error) {
	a := c.arguments(call)
	args := a.Positional()
	if bits, ok := a.Argument("bits"); ok {
		return nil, c.formula.Errorf(bits, "%s is a factor of an interaction, whose keys are whole", spec.Clip(call.String())).WithRemedy("leave out bits=, or write hash(a:b, bits=…) of levels alone")
	}
	if err := a.Finish(); err != nil {
		return nil, err
	}
	var all [][]frame.Expr
	for _, arg := range args {
		var f function
		products, err := c.levels(&f, arg)
		if err != nil {
			return nil, err
		}
		if f.segment {
			return nil, c.formula.Errorf(arg, ". holds sparse entries, which cannot be part of an interaction").WithRemedy("name the columns")
		}
		all = append(all, products...)
	}
	if len(all) == 0 {
		return nil, c.formula.Errorf(call, "hash needs a column").WithRemedy("write hash(c)")
	}
	return all, nil
}

// levels multiplies an argument of hash out to products of columns taken as levels; "." takes in the
// sparse segment.
func (c *compiler) levels(f *function, arg spec.Expr) ([][]frame.Expr, error) {
	switch e := arg.(type) {
	case spec.Dot:
		return c.dotLevels(f, map[string]bool{}), nil
	case spec.Column:
		_, _, err := c.column(e)
		return [][]frame.Expr{{keyedLevel(e.Name)}}, err
	case spec.Call:
		x, err := c.level(e)
		x.Keyed = true
		return [][]frame.Expr{{x}}, err
	case spec.Binary:
		if e.Op == spec.Minus {
			rest, out, err := c.takenOut("hash", e)
			if err != nil {
				return nil, err
			}
			if _, ok := rest.(spec.Dot); !ok {
				return nil, c.formula.Errorf(rest, "columns can be taken out of . alone").WithRemedy("write for example hash(. - a - b)")
			}
			return c.dotLevels(f, out), nil
		}
		left, right, err := both(e, func(e spec.Expr) ([][]frame.Expr, error) { return c.levels(f, e) })
		if err != nil {
			return nil, err
		}
		return c.combine(e, left, right)
	}
	return nil, c.formula.Errorf(arg, "%s cannot be hashed: hash takes columns as they stand, and parts of dates", spec.Clip(arg.String())).WithRemedy("write such as hash(a), hash(a:b), hash(hour(time)), or hash(. - a)")
}

// keyedLevel is a column whose texts hash takes.
func keyedLevel(name string) frame.Expr {
	return frame.Expr{Column: credence.TextOf(name), Keyed: true}
}

// dotLevels are the columns of "." but those that are taken out.
func (c *compiler) dotLevels(f *function, out map[string]bool) [][]frame.Expr {
	var all [][]frame.Expr
	for _, name := range c.dot {
		if !out[name] {
			all = append(all, []frame.Expr{keyedLevel(name)})
		}
	}
	if c.schema.Sparse > 0 || c.options.Namespaces {
		f.segment, f.without, f.except = true, c.segmentWithout(c.removed, c.aside, out), c.names(c.removed, c.aside, out)
	}
	return all
}
