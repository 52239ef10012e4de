package foreign

import "fmt"

// EachLine calls fn with every line of a file, as [Lines] does, and skip with what cannot be read. The error is that
// of fn.
func EachLine(f File, fn func(n int64, line []byte) error, skip func(at, reason string)) error {
	r, err := f.Open()
	if err != nil {
		skip("", err.Error())
		return nil
	}
	defer r.Close()
	var told error // of fn, which is not about the file
	err = Lines(r, func(n int64, line []byte) error {
		told = fn(n, line)
		return told
	}, func(n int64, reason string) { skip(fmt.Sprintf("line %d", n), reason) })
	if told != nil {
		return told
	}
	if err != nil {
		skip("", err.Error())
	}
	return nil
}
