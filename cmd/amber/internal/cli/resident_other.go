//go:build !linux

package cli

func dropUnusedCode() {}
