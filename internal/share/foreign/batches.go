package foreign

// Batches parts items, each of a size, so that each pass over a file holds at most so much, or one item.
func Batches[T any](items []T, size func(T) int, most int) [][]T {
	var out [][]T
	left := 0
	for _, item := range items {
		n := size(item)
		if len(out) == 0 || n > left {
			out, left = append(out, nil), most
		}
		last := len(out) - 1
		out[last] = append(out[last], item)
		left -= n
	}
	return out
}
