// Package fit turns texts and a table into a fitted model.
//
//	rows, err := table.Structs(houses)
//	model, err := fit.Table(ctx, rows, fit.Options{Formula: "Price ~ . + rbf(Lat, Lon)"})
//
// [Options] hold the texts of formula, family, prior and engine, as the command line and the model
// file have them, and are plain data that JSON holds. [Table] does everything at once. A program
// that reads only the columns a model needs takes the steps one by one:
//
//	job, err := fit.New(options)            // what is wrong whatever the data: ErrMisuse
//	columns, err := job.Columns(schema)     // what the model needs of a table
//	run, err := job.Prepare(ctx, rows)      // the model is made and the engine chosen: run.Explain
//	model, err := run.Fit(ctx)
//
// New compiles the formula against a table of which nothing is known, so that what is wrong with its text is said
// before any row is read; Columns and Prepare compile it against the table's columns, whose kinds and levels are known
// only once it has been read. Prepare reads the table once for kinds, levels and moments; how often its rows are read
// then is the engine's matter, and criticism reads some of them again.
//
// A [Registry] lists the engines, families and priors that texts may name. It is a value: a program
// adds its own to what [Default] returns.
//
// The package reads no file. A formula that names one is refused unless Options.ReadFile is there.
package fit
