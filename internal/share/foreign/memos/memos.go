// Package memos reads what MemOS exports: the traces of its plugin, and the textual memory of a cube.
package memos

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// Format is the format.
var Format = foreign.Format{
	Name: "memos", Title: "MemOS", Detect: detect, Read: read,
}

func detect(t *foreign.Tree) foreign.Match { return t.DetectDocuments(fits) }

func fits(s foreign.Sample) bool {
	return isPlugin(s) || isItem(s.First["nodes"]) || isItem(s.First[""])
}

// isPlugin reports whether a document is an export of the plugin.
func isPlugin(s foreign.Sample) bool {
	if trace := s.First["traces"]; trace != nil {
		return trace.Has("id", "sessionId", "ts") && (trace.Has("userText") || trace.Has("agentText"))
	}
	return false
}

// isItem reports whether an element is one of a cube. Items of mem0 have their times and users outside of the metadata.
func isItem(o foreign.Object) bool {
	meta := o.Sub("metadata")
	return o.Has("id", "memory") && !o.Has("hash") && !o.Has("created_at") && (meta.Has("memory_type") || meta.Has("type", "status"))
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	seen := map[string]bool{}
	for _, f := range t.Documents(fits) {
		r := &reader{ctx: ctx, file: f, o: o, to: to, seen: seen, talks: map[string]*talk{}, left: map[string]int{}}
		if err := r.read(); err != nil {
			return err
		}
	}
	return nil
}

// reader reads one document.
type reader struct {
	ctx   context.Context
	file  foreign.File
	o     foreign.Options
	to    foreign.Sink
	seen  map[string]bool // ids
	talks map[string]*talk
	left  map[string]int // lists that are not imported, and how many elements they have
}

func (r *reader) read() error {
	if err := r.file.EachElement(r.ctx, r.to.Skip, r.element); err != nil {
		return err
	}
	for _, list := range []string{"policies", "worldModels", "skills"} {
		if n := r.left[list]; n > 0 {
			r.to.Warn("%s: %d %s are not imported: they are for MemOS alone", r.file.Name, n, list)
		}
	}
	return r.giveTalks()
}

// element takes an element in the first pass.
func (r *reader) element(list string, n int64, raw []byte) error {
	at := r.file.Place(fmt.Sprintf("%s %d", list, n))
	if list == "" {
		at = r.file.Place(fmt.Sprintf("element %d", n))
	}
	take := map[string]func(foreign.Place, foreign.Object) error{"": r.item, "nodes": r.item, "edges": r.edge, "traces": r.count}[list]
	if take == nil {
		r.left[list]++
		return nil
	}
	o, err := foreign.ParseObject(raw)
	if err != nil {
		r.to.Skip(at, "element %v", err)
		return nil
	}
	return take(at, o)
}
