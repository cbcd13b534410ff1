package score_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// A model file scores a row: a struct, or a map.
func ExampleRow() {
	model, err := modelfile.Load("testdata/houses.safetensors")
	if err != nil {
		log.Fatal(err)
	}
	price, err := score.Row(model, map[string]any{"size": 80, "rooms": 3, "zip": "b", "garden": true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f, between %.0f and %.0f\n", price.Mean, price.Lower, price.Upper)
	// Output: 305, between 300 and 310
}

// offer is a row of a service.
type offer struct {
	Size   float64 `credence:"size"`
	Rooms  int     `credence:"rooms"`
	Zip    string  `credence:"zip"`
	Garden bool    `credence:"garden"`
}

// A service binds once and scores without allocating.
func ExampleBind() {
	model, err := modelfile.Load("testdata/houses.safetensors")
	if err != nil {
		log.Fatal(err)
	}
	scorer, err := score.New(model, score.Options{Interval: 0.5})
	if err != nil {
		log.Fatal(err)
	}
	bound, err := score.Bind[offer](scorer)
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range []offer{{60, 2, "a", true}, {100, 5, "c", false}} {
		price, err := bound.Score(o)
		fmt.Printf("%.0f, between %.0f and %.0f; %v\n", price.Mean, price.Lower, price.Upper, err)
	}
	// Output:
	// 215, between 213 and 217; <nil>
	// 390, between 388 and 393; <nil>
}

// What did the model learn, level against level?
func ExampleTerms() {
	model, err := modelfile.Load("testdata/houses.safetensors")
	if err != nil {
		log.Fatal(err)
	}
	terms, err := score.Terms(model, score.TermOptions{Bases: []string{"zip=a"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, term := range terms {
		fmt.Printf("%s %.2f, between %.2f and %.2f\n", term.Name, term.Mean, term.Lower, term.Upper)
	}
	// Output:
	// (intercept) -0.24, between -3.62 and 3.13
	// size 3.00, between 2.96 and 3.04
	// rooms 10.12, between 9.68 and 10.57
	// garden 14.71, between 13.26 and 16.16
	// zip=a 0.00, between 0.00 and 0.00
	// zip=b 20.14, between 18.60 and 21.68
	// zip=c 40.11, between 38.57 and 41.65
}

// How good are the predictions of rows whose targets are known?
func ExampleEvaluate() {
	all := houses(60)
	train, err := table.Structs(all[:40])
	if err != nil {
		log.Fatal(err)
	}
	test, err := table.Structs(all[40:])
	if err != nil {
		log.Fatal(err)
	}
	model, err := fit.Table(context.Background(), train, fit.Options{Formula: "Price ~ ."})
	if err != nil {
		log.Fatal(err)
	}
	scorer, err := score.New(model, score.Options{})
	if err != nil {
		log.Fatal(err)
	}
	e, err := score.Evaluate(context.Background(), scorer, test)
	fmt.Printf("rmse %.1f, %.0f %% in their 90 %% intervals; %v\n", e.RMSE, 100*e.Coverage["0.9"], err)
	// Output: rmse 3.6, 100 % in their 90 % intervals; <nil>
}

type house struct {
	Size, Rooms float64
	Zip         string
	Garden      bool
	Price       float64
	note        string
	Agent       string `credence:"-"`
}

func houses(n int) []house {
	all := make([]house, n)
	for i := range all {
		h := &all[i]
		h.Size, h.Rooms = 50+float64(i*7%60), float64(1+i*3%5)
		h.Zip, h.Garden = []string{"a", "b", "c"}[i%3], i%4 == 0
		h.note = "not exported: no column"
		h.Price = 3*h.Size + 10*h.Rooms + float64(20*(i%3)) + 5*math.Sin(float64(i))
	}
	return all
}
