package sql_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"math"

	_ "modernc.org/sqlite"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// houses returns a database of sold houses.
func houses() *sql.DB {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(1) // of one connection is the memory
	if _, err := db.Exec("CREATE TABLE houses (size REAL, rooms INTEGER, zip TEXT, price REAL)"); err != nil {
		log.Fatal(err)
	}
	for i := range 60 {
		size, rooms, zip := 50+float64(i*7%60), 1+i*3%5, string(rune('a'+i%3))
		price := 3*size + 10*float64(rooms) + 20*float64(i%3) + 4*math.Sin(float64(i))
		if _, err := db.Exec("INSERT INTO houses VALUES (?, ?, ?, ?)", size, rooms, zip, price); err != nil {
			log.Fatal(err)
		}
	}
	return db
}

// What a query returns is a table.
func Example() {
	found, err := houses().Query("SELECT size, rooms, zip, price FROM houses")
	if err != nil {
		log.Fatal(err)
	}
	rows, err := table.SQL(found)
	if err != nil {
		log.Fatal(err)
	}
	model, err := fit.Table(context.Background(), rows, fit.Options{Target: "price"})
	if err != nil {
		log.Fatal(err)
	}
	price, err := score.Row(model, map[string]any{"size": 80, "rooms": 3, "zip": "b"})
	fmt.Printf("%.0f ± %.0f; %v\n", price.Mean, price.SD, err)
	// Output: 290 ± 3; <nil>
}
