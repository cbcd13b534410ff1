// Package learn fits two-class models online: each row is scored before it is learned from, in memory
// that grows with the features met, and a run that stops can go on where it stood.
//
//	learner, at, err := learn.Resume("clicks.checkpoint", fit.Options{Formula: "click ~ hash(.)"})
//	data, err := dataset.Open(ctx, []string{"clicks.csv"}, dataset.Options{})
//	columns, err := learner.Columns(data.Schema())
//	err = data.Rows(ctx, columns, at, func(run *dataset.Run) error {
//		_, err := learner.Learn(run.Rows)
//		return err
//	})
//	err = learner.Checkpoint("clicks.checkpoint", data.Behind())
//	learner.Finish() // behind the checkpoint, from which learning goes on
//	model, err := learner.Fitted()
//
// Rows come from anywhere: runs of [table.Rows] that a reader of files makes, or structs and maps by
// [Learner.Row]. A position is made by the reader, and only kept here.
//
// # Model
//
// The formula is that of package formula, lowered to keys: numbers are never centred or scaled, each
// level of a category is a feature, and hash(…) takes any column as text. Engines are those of
// [fit.Registry] that learn online: sep, ftrl, adpredictor and sgd in [fit.Default]. The example of an engine adds one.
//
// # Cost and limits
//
// Time is linear in the entries of the rows. Memory is that of the engine and 12 to 29 bytes a
// feature for its key (19 to 29 where keys are hashes), and the names of the features where they are kept. No result
// depends on how rows are divided into runs, or runs into the blocks in which they are bound (batchRows); minibatches,
// sep(batch=), are a part of the model.
package learn
