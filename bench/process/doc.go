// Package process measures what a computation costs the process it runs in, and what
// a child process cost. Where the operating system does not tell, figures are 0.
package process
