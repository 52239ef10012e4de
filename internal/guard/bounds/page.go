package bounds

import "github.com/amber-memory/amber"

// kept returns the items of a list that keep accepts, never nil.
func kept[T any](list []T, keep func(T) (bool, error)) ([]T, error) {
	out := []T{}
	for _, v := range list {
		ok, err := keep(v)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, v)
		}
	}
	return out, nil
}

// pages returns the first page after a cursor that has items which keep accepts, or the last page. A page may have fewer items than were
// asked for. Rows that cannot be read are left out: whose they are cannot be read either.
func pages[T any](c amber.Cursor, read func(amber.Cursor) (amber.Page[T], error), keep func(T) (bool, error)) (amber.Page[T], error) {
	for {
		p, err := read(c)
		if err != nil {
			return amber.Page[T]{}, err
		}
		items, err := kept(p.Items, keep)
		if err != nil || len(items) > 0 || p.Next == "" {
			return amber.Page[T]{Items: items, Next: p.Next}, err
		}
		c = p.Next
	}
}
