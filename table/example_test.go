package table_test

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/table"
)

func show(source credence.Source, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range source.Schema().Columns {
		fmt.Println(c.Name, c.Kind, c.Levels)
	}
	var rows credence.Chunk
	if err := source.Read(&rows, 0, source.Rows()); err != nil {
		fmt.Println(err)
		return
	}
	for i := range rows.Rows() {
		fmt.Println(rows.Values.Row(i))
	}
}

func ExampleNew() {
	show(table.New().Numbers("price", []float64{310, 250}).Categories("zip", []string{"94117", "94110"}).Source())
	// Output:
	// price number []
	// zip category [94110 94117]
	// [310 1]
	// [250 0]
}

func ExampleStructs() {
	type house struct {
		Price float64 `credence:"price"`
		Zip   string
		Sold  bool
		Size  *float64 // nil is a missing value
		Notes []string `credence:"-"`
	}
	show(table.Structs([]house{{Price: 310, Zip: "94117"}, {Price: 250, Zip: "94110", Sold: true}}))
	// Output:
	// price number []
	// Zip category [94110 94117]
	// Sold boolean []
	// Size number []
	// [310 1 0 NaN]
	// [250 0 1 NaN]
}

func ExampleRecords() {
	show(table.Records([]string{"price", "zip", "sold"}, [][]any{{310, "A1", "no"}, {nil, "B2", "yes"}}))
	// Output:
	// price number []
	// zip category [A1 B2]
	// sold boolean []
	// [310 0 0]
	// [NaN 1 1]
}
