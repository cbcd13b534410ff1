// Package imaging reconstructs images from few linear measurements, with a standard deviation for every pixel:
// compressed sensing by convex variational inference (Seeger, Nickisch, Pohmann & Schölkopf 2009). A [Model] says how
// an image was measured, with what noise, and how sparse its differences and wavelet coefficients are; other
// problems of this kind are put together from operators of linop and sites of infer/convex.
//
// A solution takes O(n) memory for each of its draws, and a few hundred products with the operators, shared
// by 16 draws at a time. Files are read and written as .png and .npy.
package imaging
