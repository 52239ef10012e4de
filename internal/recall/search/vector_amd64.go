package search

import "golang.org/x/sys/cpu"

// usualDistances is plainDistances.
func usualDistances(out []uint16, signs []byte, words *[usualWidth / 8]uint64) {
	if !cpu.X86.HasPOPCNT || len(out) == 0 {
		plainDistances(out, signs, words)
		return
	}
	_ = signs[len(out)*usualWidth-1]
	countDistances(&out[0], &signs[0], words, len(out))
}

//go:noescape
func countDistances(out *uint16, signs *byte, words *[usualWidth / 8]uint64, n int)
