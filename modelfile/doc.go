// Package modelfile stores a fitted model in one .safetensors file and reads it
// back, without any engine: scoring does not need training.
//
// # Layout
//
// The metadata entry "credence" is one JSON document: the format version, the texts
// the model was asked for with (formula, family, prior, engine, seed and what else was stated), the frame, which
// has the inputs and their levels, the report, and for each member terms, likelihood,
// prior and posterior as plain data. Numbers that come in arrays are tensors beside it,
// named after their place:
//
//	member.0.posterior.mean                 d
//	member.0.posterior.covariance_factor    d×d, C = F Fᵀ, F upper triangular
//	member.0.features.1.frequencies         n×inputs, before division by the lengthscale
//
// A tensor that members have in common is stored under the first of its names, and the document has the
// others under "shared". Any reader of safetensors opens the file. It holds no time, path, host or
// thread count, and its keys are sorted, so that equal fits are equal files.
//
// # Parts
//
// [Parts] lists the families, priors, terms and posteriors that files can hold; a program adds its
// own to a copy. A part is plain data for encoding/json. The fields of a term or a posterior that
// are tensors are tagged with the tensor's name and what its dimensions are called,
//
//	Factor []float64 `json:"-" tensor:"covariance_factor,d,d"`
//
// where d is the number of weights, "inputs" that of a term's inputs, and any other name stands for
// one size wherever it occurs; "optional" behind them says that nil is not stored.
//
// # Safety
//
// Writing goes to a temporary file that is synced and renamed: a crash leaves
// the old file whole. Reading treats the file as hostile: the container is checked
// by its own reader, the SHA-256 over tensors and metadata is verified, and every part is
// validated against the others before a [credence.Fitted] is returned. No code is
// ever loaded from a file. What reading would refuse is not written.
//
// Memory: reading holds the tensors, once.
package modelfile
