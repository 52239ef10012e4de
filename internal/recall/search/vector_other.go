//go:build !amd64

package search

func usualDistances(out []uint16, signs []byte, words *[usualWidth / 8]uint64) {
	plainDistances(out, signs, words)
}
