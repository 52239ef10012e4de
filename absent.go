package amber

import (
	"context"
	"reflect"
)

// absent answers in the place of every contract that a store does not have. A quiet one answers reads as an empty
// store would; any other answers every call with its error. Mutations always fail.
type absent struct {
	err   error
	kind  Kind
	quiet bool
}

// fill puts a into the place of the parts that are nil.
func (p Parts) fill(a absent) Parts {
	p.put(&around{do: a.answer, empty: true}, func(part any) fate { return replaceIf(part == nil) })
	return p
}

func (a absent) answer(_ context.Context, c *Call) error {
	if h, ok := c.Out.(*Health); ok { // the one call that always answers
		*h = Health{Backend: "none", Status: Unavailable, Detail: a.err.Error()}
		return nil
	}
	kind := a.kind
	if c.Method.Effect != Changes {
		c.answerEmpty()
		switch {
		case a.quiet && c.Method.Effect == Lists:
			return nil
		case a.quiet:
			kind = KindNotFound
		}
	}
	return &Error{Op: c.Method.Op, Kind: kind, Err: a.err}
}

// answerEmpty answers a read as a store that holds nothing.
func (c *Call) answerEmpty() {
	switch out := c.Out.(type) {
	case interface{ answerEmpty() }: // a page
		out.answerEmpty()
	case *RecallResult:
		out.Hits = []Hit{}
	case *Stats:
		*out = Stats{ByKind: map[MemoryKind]int64{}, ByScope: map[Scope]int64{}, ByTrust: map[Trust]int64{}}
	case *SyncReport:
		*out = SyncReport{Devices: []SyncDevice{}, Quarantined: []QuarantinedChunk{}, Conflicts: []SyncConflict{}}
	case *Outgoing:
		out.Done = true
	case *JournalCursor:
		out.Journal = *c.In[0].(*string)
	case *[]SyncRecord:
		*out = make([]SyncRecord, len(*c.In[0].(*[]SyncRef)))
	case *[]bool:
		switch in := c.In[1].(type) {
		case *[]SyncMark:
			*out = make([]bool, len(*in))
		case *[]SyncRef:
			*out = make([]bool, len(*in))
		}
	default: // a list is empty, and not nil
		if v := reflect.ValueOf(out).Elem(); v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
	}
}

func (p *Page[T]) answerEmpty() { p.Items = []T{} }
