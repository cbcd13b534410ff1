// Package apply scores files with fitted models, each as it reads files: a model of fit by its columns, one of learn
// by keys, which are looked up as they come.
//
//	scorer, err := score.New(model, score.Options{})
//	file, err := apply.Open(ctx, scorer, []string{"test.csv"}, apply.Options{Targets: score.RequireTargets})
//	defer file.Close()
//	result, err := file.Evaluate(ctx, apply.Measures{}) // result.NLPD, result.RMSE, result.Coverage["0.9"]
//
// Models are compared by the rows that all of them are scored on:
//
//	scores := score.NewScores("first", model)
//	err := file.Each(ctx, scores.Add) // and of each other model
//	comparison, err := score.Compare(scores, others)
//
// Predictions are in the order of the rows:
//
//	err = file.Each(ctx, func(rows *score.Rows) error { for i := range rows.Len() { … rows.Predict(i) … } })
//
// or as a table, which is what the command predict writes:
//
//	rows, err := file.Write(ctx, w, "predictions.csv", apply.Answers{Samples: 10})
//
// Memory is that of a few blocks of rows, but for what a table of fit's columns keeps: see [dataset.Options].
package apply
