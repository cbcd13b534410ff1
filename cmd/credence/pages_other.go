//go:build !linux

package main

func useLargePages([]string) {} // other systems choose the size of pages by themselves
