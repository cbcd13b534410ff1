// Package formula gives the small language of Credence its meaning: it compiles
// the syntax trees of package spec and the schema of a table to a frame plan, to
// features, and to families and priors.
//
// # Formulas
//
// [Compile] resolves names and needs no data; [Plan.Features] makes the features
// once [frame.Fit] has read the training table.
//
// "." stands for every column that is not the target, not taken out by "- column",
// and not part of offset, weight or the trials of a binomial family; nor is it a
// category that has a block of its own through onehot, or a column of keep or group. Columns named elsewhere, as
// in rbf(lat, lon), are still in ".". Inside a function "." means those of the same
// columns that are numbers or booleans.
//
// Plain columns, transforms of columns and "." together are one block, linear;
// a category among them is one weight for each level. Every function and every
// interaction a:b is a block of its own, named as the formula writes it. a*b is a + b +
// a:b, and sums in parentheses multiply out. A product of a column with itself is
// refused where it is written out and left out where a sum brings it about.
//
// A column named in the formula is looked for among the table's columns, then
// as "xk" in its sparse segment. A segment enters the linear block and random
// features as it is; polynomials and bumps, and random features too, take at most
// [MostSegmentInputs] of its columns.
//
// # Functions
//
// keep(a, b) are columns that no engine selects, and group(a, b) columns that are selected together. Either
// takes columns, transforms and onehot(c), and is a block of its own.
//
// Random features rbf, laplacian, cauchy, matern12, matern32 and matern52 take n= (50 for
// one column and 100 for two, no more than different values; beyond 250, under gaussian 500 and above
// 5,000 rows 1,000), kind=quasi|iid|orthogonal, lengthscale= (one, or one for each column), ard=,
// lengthscale_prior=none, and frequencies=@file.csv in place of a draw: a row
// for each frequency; a header that names just the function's columns gives their order.
// radial and sigmoid take centres= (50, fewer if the data have fewer different rows),
// lengthscale=, ard= and lengthscale_prior=. poly(x, 3) has the powers up to the third.
// hash(c…, bits=) has one feature for each key of its columns' texts and of their products that
// training met, and hash(c):x that feature times x. onehot and hash take parts of dates too: onehot(hour(t)). What the
// language has beyond that is refused as not supported in this version.
//
// # Two lowerings
//
// A compiled formula is a plan for tables, whose features [Plan.Features] makes, or a plan over
// keys, by which online engines read each row once: [ForRows], [Plan.Keyed]. What needs all rows
// before the first, such as center or centres, has no keys and is refused.
//
// # Families
//
// [ParseFamily] reads a family. Left out, it is decided by the target of the training table:
// bernoulli for booleans, categories of two levels, and numbers that are exactly
// 0 and 1 or exactly -1 and 1, both present; gaussian for all other numbers. A
// target of the numbers 1 and 2 is thus gaussian unless the family is stated, and the
// frame says so in a warning.
//
// # Errors
//
// What is wrong with a text is a [*spec.Error], which points into it. Errors that
// need the data are plain ones.
//
// # Cost and limits
//
// Compiling is linear in the number of columns and terms; interactions of sums are
// at most [MostProducts]. Centres of radial and sigmoid are chosen from at most
// a few thousand rows, spread evenly, by the seeding of k-means++ (Arthur &
// Vassilvitskii 2007): a number of operations that is quadratic in the number of centres.
package formula
