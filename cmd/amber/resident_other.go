//go:build !linux

package main

func dropUnusedCode() {}
