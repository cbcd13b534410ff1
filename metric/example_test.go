package metric_test

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/credence-ml/credence/metric"
)

func ExampleRegression() {
	r := metric.Regression{TrainMean: 2, TrainVariance: 4}
	for i, y := range []float64{1, 2, 4} {
		mean := []float64{1.5, 2, 3.5}[i]
		logDensity := -0.5*math.Log(2*math.Pi*0.25) - (y-mean)*(y-mean)/(2*0.25)
		r.Add(y, mean, logDensity, 1)
	}
	result, err := r.Result()
	fmt.Printf("%.3f %.3f %.3f %v\n", result.RMSE, result.R2, result.MSLL, err)
	// Output: 0.408 0.893 -1.261 <nil>
}

func ExampleClassification() {
	var c metric.Classification
	for i, y := range []float64{0, 0, 1, 1} {
		c.Add(y, []float64{0.1, 0.4, 0.35, 0.8}[i], 1)
	}
	result, err := c.Result()
	text, _ := json.Marshal(struct {
		Accuracy metric.Score `json:"accuracy"`
		AUC      metric.Score `json:"auc"`
	}{result.Accuracy, result.AUC})
	fmt.Println(string(text), err)
	// Output: {"accuracy":0.75,"auc":0.75} <nil>
}

func ExampleDeviance() {
	var d metric.Deviance
	for i, y := range []float64{0, 3, 1} {
		d.Add(metric.PoissonDeviance(y, []float64{0.5, 2.5, 1}[i]), 1)
	}
	result, err := d.Result()
	fmt.Printf("%.4f %v\n", result.Deviance, err)
	// Output: 1.0939 <nil>
}

func ExampleIntervals() {
	var v metric.Intervals
	for i, y := range []float64{0.2, -0.4, 3} {
		centre := []float64{0, 0, 1}[i]
		v.Add(0.9, y, centre-1.5, centre+1.5, 1)
	}
	result, err := v.Result()
	text, _ := json.Marshal(result)
	fmt.Println(string(text), err)
	// Output: {"coverage":{"0.9":0.6666666666666666},"interval_width":{"0.9":3},"interval_score":{"0.9":6.333333333333333}} <nil>
}
