package dataset_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
)

func Example() {
	folder, err := os.MkdirTemp("", "dataset")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "homes.csv")
	os.WriteFile(path, []byte("price;rooms;city\n250;3;Rome\n410;NA;Bern\n"), 0o600)

	ctx := context.Background()
	table, err := dataset.Open(ctx, []string{path}, dataset.Options{CacheDir: folder})
	if err != nil {
		panic(err)
	}
	defer table.Close()
	source, err := table.Load(ctx, []string{"city", "rooms"})
	if err != nil {
		panic(err)
	}
	for _, c := range source.Schema().Columns {
		fmt.Println(c.Name, c.Kind, c.Levels)
	}
	var chunk credence.Chunk
	if err := source.Read(&chunk, 0, source.Rows()); err != nil {
		panic(err)
	}
	fmt.Println(chunk.Values.Data)
	// Output:
	// city category [Bern Rome]
	// rooms number []
	// [1 3 0 NaN]
}

// Rows are read once, and again from any place.
func ExampleTable_Rows() {
	table, err := dataset.Open(context.Background(), []string{"-"}, dataset.Options{
		Stdin: strings.NewReader("click,site,price\n1,a,2.5\n0,b,\n1,a,3\n"), Once: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer table.Close()
	err = table.Rows(context.Background(), nil, credence.Position{}, func(run *dataset.Run) error {
		for i := range run.Count {
			row := run.Row(i)
			fmt.Printf("%v %s %v, up to byte %d\n", row[0], run.TextOf(1, row[1]), row[2], run.After(i).Offset)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// 1 a 2.5, up to byte 25
	// 0 b NaN, up to byte 30
	// 1 a 3, up to byte 36
	// <nil>
}
