package foreign

import (
	"maps"
	"slices"
)

// Batches parts conversations whose messages lie anywhere in a file, given by the bytes of each, so that each pass over
// the file holds at most so many bytes, or one conversation.
func Batches(sizes map[string]int, most int) [][]string {
	var out [][]string
	left := 0
	for _, id := range slices.Sorted(maps.Keys(sizes)) {
		if len(out) == 0 || sizes[id] > left {
			out, left = append(out, nil), most
		}
		last := len(out) - 1
		out[last] = append(out[last], id)
		left -= sizes[id]
	}
	return out
}
