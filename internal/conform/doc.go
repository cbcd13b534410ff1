// Package conform holds the test suites that every implementation of an
// interface must pass: adding an implementation is adding a line to its tests.
//
// A suite checks what holds for every implementation (derivatives against
// central differences, order of rows, threads); what a particular one computes
// is tested beside it against its own oracle.
package conform
