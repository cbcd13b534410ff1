package fit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// measured returns 40 points of a noisy wave.
func measured() (x, y []float64) {
	for i := range 40 {
		x = append(x, float64(i)/4)
		y = append(y, 2+math.Sin(x[i])+0.3*math.Sin(37*float64(i*i)))
	}
	return x, y
}

// Rows in memory: fit them, and predict where nothing was measured.
func ExampleTable() {
	x, y := measured()
	rows, err := table.New().Numbers("x", x).Numbers("y", y).Source()
	if err != nil {
		log.Fatal(err)
	}
	model, err := fit.Table(context.Background(), rows, fit.Options{Formula: "y ~ rbf(x, n=50)"})
	if err != nil {
		log.Fatal(err)
	}
	p, err := score.Row(model, map[string]any{"x": 5 * math.Pi / 2})
	fmt.Printf("%.1f ± %.1f; %v\n", p.Mean, p.SD, err)
	// Output: 3.0 ± 0.2; <nil>
}

// house is a row of a program.
type house struct {
	Size   float64 `credence:"size"`
	Rooms  int     `credence:"rooms"`
	Zip    string  `credence:"zip"`
	Price  float64 `credence:"price"`
	Street string  `credence:"-"`
}

// sold returns houses whose prices are known.
func sold() []house {
	houses := make([]house, 60)
	for i := range houses {
		h := &houses[i]
		h.Size, h.Rooms, h.Zip = 50+float64(i*7%60), 1+i*3%5, string(rune('a'+i%3))
		h.Price = 3*h.Size + 10*float64(h.Rooms) + 20*float64(i%3) + 4*math.Sin(float64(i))
	}
	return houses
}

// A slice of structs.
func ExampleTable_structs() {
	rows, err := table.Structs(sold())
	if err != nil {
		log.Fatal(err)
	}
	model, err := fit.Table(context.Background(), rows, fit.Options{Formula: "price ~ . + zip:size"})
	if err != nil {
		log.Fatal(err)
	}
	price, err := score.Row(model, house{Size: 80, Rooms: 3, Zip: "b"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f ± %.0f\n", price.Mean, price.SD)
	// Output: 290 ± 3
}

// Structs without tags: a column's name is the field's. The target of a row that is scored is not read.
func ExampleTable_kernel() {
	type House struct{ Lat, Lon, Size, Price float64 }
	var houses []House
	for i := range 40 {
		h := House{Lat: float64(i % 8), Lon: float64(i % 5), Size: float64(50 + i*13%40)}
		h.Price = 100 + 20*math.Sin(h.Lat) + 5*h.Lon + 3*h.Size + math.Sin(float64(i))
		houses = append(houses, h)
	}
	rows, err := table.Structs(houses)
	if err != nil {
		log.Fatal(err)
	}
	model, err := fit.Table(context.Background(), rows, fit.Options{Formula: "Price ~ . + rbf(Lat, Lon)"})
	if err != nil {
		log.Fatal(err)
	}
	price, err := score.Row(model, House{Lat: 2, Lon: 1, Size: 80})
	if err != nil {
		log.Fatal(err)
	}
	truth := 100 + 20*math.Sin(2) + 5 + 3*80
	fmt.Println(model.Recipe.Engine, price.Lower < truth && truth < price.Upper, math.Abs(price.Mean-truth) < 3)
	// Output: exact true true
}

// Options are plain data, as a file of settings holds them.
func ExampleOptions() {
	var options fit.Options
	err := json.Unmarshal([]byte(`{"formula": "y ~ .", "family": "bernoulli", "prior": "spikeslab(inclusion_prior=[1, 9])", "seed": 7}`), &options)
	if err != nil {
		log.Fatal(err)
	}
	_, err = fit.New(options)
	fmt.Println(options.Formula, options.Seed, err)
	// Output: y ~ . 7 <nil>
}

// A CSV file becomes a model file, as by the command fit.
func ExampleTable_csv() {
	files, err := dataset.Open(context.Background(), []string{"testdata/houses.csv"}, dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()
	rows, err := files.Load(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	model, err := fit.Table(context.Background(), rows, fit.Options{Target: "price"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(model.Recipe.Formula, modelfile.Save(filepath.Join(os.TempDir(), "credence-example.safetensors"), model))
	// Output: price ~ . <nil>
}

// A model is fitted again without a tenth of the rows, ten times, as credence evaluate --cv 10 does.
func ExampleAgain() {
	ctx, rows := context.Background(), table.New().Numbers("x", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).Numbers("y", []float64{3, 5, 6, 9, 11, 13, 15, 16, 19, 21})
	source, err := rows.Source()
	if err != nil {
		log.Fatal(err)
	}
	model, err := fit.Table(ctx, source, fit.Options{Formula: "y ~ x"})
	if err != nil {
		log.Fatal(err)
	}
	job, err := fit.Again(model, fit.Options{}) // the recipe of the model
	if err != nil {
		log.Fatal(err)
	}
	again, err := job.Prepare(ctx, source)
	if err != nil {
		log.Fatal(err)
	}
	folds, err := again.Folds(ctx, fit.FoldOptions{Folds: 10})
	if err != nil {
		log.Fatal(err)
	}
	scores := score.NewScores("line", model)
	if err := again.HeldOut(ctx, folds, scores.Add); err != nil { // or the Add of score.NewEvaluation(model)
		log.Fatal(err)
	}
	scores.LeftOut(nil) // standard errors are over rows
	nlpd, standardError := scores.NLPD()
	fmt.Printf("%.1f ± %.1f\n", nlpd, standardError)
	// Output: 0.9 ± 0.2
}

// What is wrong whatever the data is found before they are read.
func ExampleNew() {
	_, err := fit.New(fit.Options{Formula: "y ~ .", Family: "poisson", Engine: "exact"})
	fmt.Println(err)
	// Output: engine exact cannot fit this model: it needs the family gaussian, not poisson; use --engine svi or laplace
}
