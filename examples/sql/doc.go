// Package sql shows how what a query returns is fitted. It is a module of its own, so that the driver
// of the database is no dependency of Credence.
package sql
