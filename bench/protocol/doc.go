// Package protocol holds the regression sets of the literature with the splits by
// which they are measured: the published test rows where there are any, every
// fifth row otherwise. Rows are counted from 0 without the header.
package protocol
