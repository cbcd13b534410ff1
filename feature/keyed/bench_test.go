package keyed

import (
	"fmt"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/table"
)

// BenchmarkBind binds cells of 6 columns taken as text, of 10 to 1,000 levels in a run of 4,096 rows.
func BenchmarkBind(b *testing.B) {
	columns := []table.Column{{Name: "y"}}
	plan := &Plan{Format: Format, Roles: frame.Roles{Target: new(frame.Column("y"))}}
	for k := range 6 {
		columns = append(columns, table.Column{Name: fmt.Sprint("c", k), Text: true})
		single(plan, Input{Expr: frame.Column(fmt.Sprint("c", k)), Role: AsLevel}, 0)
	}
	rows := &table.Rows{}
	rows.Reset("f", columns)
	for i := range 4096 {
		rows.Values = append(rows.Values, float64(i%2))
		for k := range 6 {
			code, _ := rows.Levels[k+1].Find(fmt.Appendf(nil, "u%d", i*(k+7)*2654435761>>7%[]int{10, 100, 1000}[k%3]), 0)
			rows.Values = append(rows.Values, float64(code))
		}
		rows.Count++
	}
	binder, err := NewLearning(plan, &Index{}, &Names{})
	if err != nil {
		b.Fatal(err)
	}
	var batch credence.Batch
	for b.Loop() {
		if err := binder.Begin(rows); err != nil {
			b.Fatal(err)
		}
		for first := 0; first < rows.Count; first += 512 {
			if _, err := binder.Bind(&batch, first, 512, 0); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(6*rows.Count), "ns/cell")
}
