package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// SelectProducts is [Select] for rows of which only the products are known, XᵀX, Xᵀy, yᵀy and their number, as shards
// add them up or a paper prints them: the answer is that of the rows but for rounding. Targets are normal, and the
// formula has the columns as they are, whose products alone are known; what needs rows is refused: permuted targets,
// resamples, folds.
func SelectProducts(ctx context.Context, products *table.Products, options Options, how selection.Options) (*credence.Fitted, error) {
	job, err := NewProducts(options, how)
	if err != nil {
		return nil, err
	}
	prepared, err := job.PrepareProducts(ctx, products)
	if err != nil {
		return nil, err
	}
	return prepared.Select(ctx, how)
}

// NewProducts is NewSelection for [Job.PrepareProducts].
func NewProducts(options Options, how selection.Options) (*Job, error) {
	options.Family = cmp.Or(options.Family, "gaussian")
	if name, _, _ := strings.Cut(options.Family, "("); name != "gaussian" {
		return nil, &Misuse{"family", fmt.Errorf("%s: products of columns stand for rows with normal targets alone: use --family gaussian, or the rows", name)}
	}
	for _, o := range []struct {
		name  string
		value int
	}{{"null-check", how.NullCheck}, {"bootstrap", how.Bootstrap}, {"check", how.Check}} {
		if o.value > 0 {
			return nil, &Misuse{"", fmt.Errorf("--%s needs the rows, and their products do not have them: leave it out, or use the rows", o.name)}
		}
	}
	return NewSelection(options, how)
}

// PrepareProducts is Prepare for the products of rows.
func (j *Job) PrepareProducts(ctx context.Context, products *table.Products) (*Prepared, error) {
	if products == nil {
		return nil, errors.New("there are no products: read them by table.ReadProducts")
	}
	source, weight, err := products.Source()
	if err != nil {
		return nil, err
	}
	weighed, term := *j, " + weight("+weight+")"
	weighed.options.Formula = cmp.Or(j.options.Formula, ".") + term
	p, err := weighed.Prepare(ctx, source)
	if err != nil {
		return nil, err
	}
	named, ok := p.model.Features.(credence.Named)
	plain := ok && slices.Contains(products.Names, p.frame.TargetName()) && len(p.frame.Offset) == 0 && p.frame.Precision == nil
	for k := 0; plain && k < p.model.Features.Weights(); k++ {
		plain = slices.Contains(products.Names, named.WeightName(k))
	}
	if !plain {
		return nil, fmt.Errorf("the formula %s asks for more than the columns as they are, of which alone there are products: write such columns into the table of products, or use the rows", p.plan)
	}
	p.products, p.term = products, term
	return p, nil
}
