// Package layout keeps the import direction of the repository: its test walks
// go list and fails on an arrow that points upwards.
package layout
