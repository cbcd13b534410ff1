package dataset_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

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
