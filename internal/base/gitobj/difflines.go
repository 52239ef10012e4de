package gitobj

import "bytes"

const (
	// maxEdits bounds the search for the shortest way from one text to the other: it takes time by the
	// square of the number of edits.
	maxEdits     = 4000
	binaryPrefix = 8000 // bytes in which git looks for a zero byte
)

// diffLines counts the lines that have to be put into a and taken out of it to make b of it: as few as
// possible, unless there are too many.
func diffLines(a, b []byte) (insertions, deletions int64) {
	if isBinary(a) || isBinary(b) {
		return 0, 0
	}
	old, new := number(a, b)
	for len(old) > 0 && len(new) > 0 && old[0] == new[0] {
		old, new = old[1:], new[1:]
	}
	for len(old) > 0 && len(new) > 0 && old[len(old)-1] == new[len(new)-1] {
		old, new = old[:len(old)-1], new[:len(new)-1]
	}
	if edits, found := shortest(old, new); found {
		grown := len(new) - len(old)
		return int64(edits+grown) / 2, int64(edits-grown) / 2
	}
	return unordered(old, new)
}

func isBinary(text []byte) bool { return bytes.IndexByte(text[:min(len(text), binaryPrefix)], 0) >= 0 }

// number gives each line a number, the same to the same lines. A last line without an end is another one
// than the same with it.
func number(a, b []byte) (old, new []int) {
	known := map[string]int{}
	lines := func(text []byte) []int {
		var ids []int
		for line := range bytes.Lines(text) {
			id, found := known[string(line)]
			if !found {
				id = len(known)
				known[string(line)] = id
			}
			ids = append(ids, id)
		}
		return ids
	}
	return lines(a), lines(b)
}

// shortest returns the least number of insertions and deletions that make b of a, as Myers found it: for each number of
// edits, how far along a every diagonal can be followed. False when it is more than maxEdits.
func shortest(a, b []int) (edits int, found bool) {
	most := min(len(a)+len(b), maxEdits)
	far := make([]int, 2*most+3) // by diagonal, which is the place in a less that in b
	mid := most + 1
	for d := 0; d <= most; d++ {
		for k := -d; k <= d; k += 2 {
			x := far[mid+k-1] + 1
			if k == -d || k != d && far[mid+k-1] < far[mid+k+1] {
				x = far[mid+k+1]
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			far[mid+k] = x
			if x >= len(a) && y >= len(b) {
				return d, true
			}
		}
	}
	return 0, false
}

// unordered counts the lines that one text has more often than the other.
func unordered(a, b []int) (insertions, deletions int64) {
	balance := map[int]int64{}
	for _, id := range a {
		balance[id]--
	}
	for _, id := range b {
		balance[id]++
	}
	for _, n := range balance {
		if n > 0 {
			insertions += n
		} else {
			deletions -= n
		}
	}
	return insertions, deletions
}
