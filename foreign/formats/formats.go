// Package formats lists every format that Amber reads or writes.
package formats

import (
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/foreign"
	"github.com/amber-memory/amber/foreign/jsonl"
)

// All returns every format, those that most people have first.
func All() []foreign.Format {
	return []foreign.Format{
		jsonl.Format,
	}
}

// Read returns the formats that can be imported.
func Read() []foreign.Format {
	return choose(func(f foreign.Format) bool { return f.Read != nil })
}

// Written returns the formats that can be exported.
func Written() []foreign.Format {
	return choose(func(f foreign.Format) bool { return f.Write != nil })
}

func choose(keep func(foreign.Format) bool) (out []foreign.Format) {
	for _, f := range All() {
		if keep(f) {
			out = append(out, f)
		}
	}
	return out
}

// Find returns the format of a name among some. Errors: invalid, with the names there are.
func Find(name string, among []foreign.Format) (foreign.Format, error) {
	for _, f := range among {
		if f.Name == strings.ToLower(name) {
			return f, nil
		}
	}
	return foreign.Format{}, amber.Errorf(amber.KindInvalid, "find format", "", "format is %.40q, want one of %s", name, Names(among))
}

// Names returns the names of formats as a list.
func Names(formats []foreign.Format) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}
