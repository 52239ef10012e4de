package mem0

import (
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// usual is how many items a program gets that does not ask for more.
const usual = 20

// document reads the items of a JSON document.
func (r *reader) document(ctx context.Context, f foreign.File, fn func(foreign.Place, foreign.Fields) error, skip foreign.SkipFunc) error {
	return foreign.ReadDocument(f, skip, foreign.Document{
		Element: func(list string, n int64, raw []byte) error {
			if err := ctx.Err(); err != nil || !slices.Contains(lists, list) {
				return err
			}
			at := foreign.Place{File: f.Name, At: fmt.Sprintf("item %d", n)}
			x, ok := foreign.ParseFields(raw)
			if !ok {
				skip(at, "item is %.40q, want an object", raw)
				return nil
			}
			return fn(at, x)
		},
		Member: func(member string, raw []byte) error {
			if member == "next" && string(raw) != "null" {
				r.to.Warn("%s is one page of several: %.200s has more", f.Name, raw)
			}
			if member != "" && slices.Contains(lists, member) && string(raw) != "null" {
				skip(foreign.Place{File: f.Name, At: member}, "value is %.40q, want a list", raw)
			}
			return nil
		},
	})
}

func (r *reader) readDocument(ctx context.Context, f foreign.File) error {
	items, own := 0, false
	err := r.document(ctx, f, func(at foreign.Place, x foreign.Fields) error {
		items++
		m, err := item(x, r.o)
		own = own || m.AmberID != ""
		if err != nil {
			r.to.Skip(at, "%v", err)
			return nil
		}
		m.Place = at
		return r.memory(f, m)
	}, r.to.Skip)
	if err == nil && items == usual && !own {
		r.to.Warn("%s holds exactly %d memories, which is how many mem0 gives unless it is asked for more: some may be missing", f.Name, usual)
	}
	return err
}
