// Package cell has the one set of rules by which the texts of cells become values:
// numbers, booleans, texts that mean missing, and the census that infers what a
// column is from the values it has.
//
// Numbers are in decimal notation only: digits, one point, an exponent. Every
// number is rounded to the nearest float64, ties to even, exactly as
// strconv.ParseFloat does.
package cell
