// Package modelfile stores a fitted model in one .safetensors file and reads it
// back, without any engine: scoring does not need training.
//
// # Layout
//
// The metadata entry "credence" is one JSON document: the format version, the texts
// the model was asked for with (formula, family, prior, engine, seed), the frame, the
// report, and for each member the features, likelihood, prior and posterior as
// plain data. Numbers that come in arrays are tensors beside it, named after
// their place:
//
//	member.0.posterior.mean                 d
//	member.0.posterior.covariance_factor    d×d, C = F Fᵀ, F upper triangular
//	member.0.features.1.frequencies         n×inputs, before division by the lengthscale
//
// Any reader of safetensors opens the file. It holds no time, path, host or
// thread count, and its keys are sorted, so that equal fits are equal files.
//
// # Safety
//
// Writing goes to a temporary file that is synced and renamed: a crash leaves
// the old file whole. Reading treats the file as hostile: the container is checked
// by its own reader, the SHA-256 over tensors and metadata is verified, and every part is
// validated against the others before a [credence.Fitted] is returned. No code is
// ever loaded from a file.
//
// Memory: reading holds the tensors, once.
package modelfile
