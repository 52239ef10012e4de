// Package graphiti reads dumps of the graph of Graphiti and Zep: nodes and edges become memories, episodes that are messages
// become turns. Graphiti has no exporter, so that the lists of a dump have several names.
package graphiti

import (
	"context"
	"slices"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// Format is the format.
var Format = foreign.Format{
	Name: "graphiti", Title: "Graphiti", Detect: detect, Read: read,
}

// The names of the lists.
var (
	episodes = []string{"episodes", "episodic_nodes"}
	nodes    = []string{"entities", "nodes", "entity_nodes"}
	edges    = []string{"facts", "edges", "entity_edges"}
)

func detect(t *foreign.Tree) foreign.Match { return t.DetectDocuments(fits) }

// fits reports whether a document is a dump, by the first element of a list.
func fits(s foreign.Sample) bool {
	for list, o := range s.First {
		switch {
		case o.Text("uuid") == "":
		case slices.Contains(edges, list) && o.Has("source_node_uuid", "target_node_uuid"):
			return true
		case slices.Contains(nodes, list) && o.Has("name") && (o.Has("labels") || o.Has("summary")):
			return true
		case slices.Contains(episodes, list) && o.Has("content", "source"):
			return true
		}
	}
	return false
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	seen := map[string]bool{}
	for _, f := range t.Documents(fits) {
		r := &reader{ctx: ctx, file: f, o: o, to: to, seen: seen, groups: map[string]*group{}}
		if err := r.read(); err != nil {
			return err
		}
	}
	return nil
}

// reader reads one dump.
type reader struct {
	ctx    context.Context
	file   foreign.File
	o      foreign.Options
	to     foreign.Sink
	seen   map[string]bool // uuids of memories and episodes
	groups map[string]*group
}

func (r *reader) read() error {
	if err := r.file.EachElement(r.ctx, r.to.Skip, r.element); err != nil {
		return err
	}
	return r.giveGroups()
}
