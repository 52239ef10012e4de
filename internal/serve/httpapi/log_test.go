package httpapi_test

import (
	"context"
	"log/slog"
	"sync"

	"github.com/amber-memory/amber/internal/serve/httpapi"
)

// diary is a log that tests read. Told has an element for each entry but those
// about requests as such.
type diary struct {
	told chan entry

	mu      sync.Mutex
	entries []entry
}

type entry struct {
	level   slog.Level
	message string
	attrs   map[string]string
}

func newDiary() *diary { return &diary{told: make(chan entry, 64)} }

// kept has an API write into the diary.
func (d *diary) kept(_ *rig, o *httpapi.Options) { o.Log = slog.New(d) }

func (d *diary) Enabled(context.Context, slog.Level) bool { return true }
func (d *diary) WithAttrs([]slog.Attr) slog.Handler       { return d }
func (d *diary) WithGroup(string) slog.Handler            { return d }

func (d *diary) Handle(_ context.Context, r slog.Record) error {
	e := entry{level: r.Level, message: r.Message, attrs: map[string]string{}}
	r.Attrs(func(a slog.Attr) bool {
		e.attrs[a.Key] = a.Value.String()
		return true
	})
	if r.Message == "request" {
		return nil
	}
	d.mu.Lock()
	d.entries = append(d.entries, e)
	d.mu.Unlock()
	select {
	case d.told <- e:
	default:
	}
	return nil
}

// from are the entries of a level and above.
func (d *diary) from(l slog.Level) (out []entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.entries {
		if e.level >= l {
			out = append(out, e)
		}
	}
	return out
}
