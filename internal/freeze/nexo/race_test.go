//go:build race

package nexo

// scale makes a test smaller under the race detector, where SQLite, which is
// Go here, takes fifteen times as long.
func scale(n int) int { return n / 4 }
