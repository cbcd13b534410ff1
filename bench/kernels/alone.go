//go:build !openblas || !cgo

package main

func otherLibraries() []peer { return nil }
