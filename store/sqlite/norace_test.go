//go:build !race

package sqlite

func scale(n int) int { return n }
