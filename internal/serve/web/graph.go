package web

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// mostEdges bounds the lines of a picture, shownTitle a title in it.
const (
	mostEdges  = 250
	shownTitle = 56
)

// graphScreen is the graph around a memory.
type graphScreen struct{ *visit }

func graphRoutes(p *Page) { p.get("/graph", on(graphScreen.graph)) }

// graphData is what the screen of a neighbourhood shows.
type graphData struct {
	Memory  string
	Depth   int
	Types   []typeChoice
	Picture *picture // nil: no memory was named
	Groups  []graphGroup
	Center  amber.Neighbour
	Title   string // of the centre
	URL     string // of the centre
	Count   int    // of the memories around it
	More    bool
}

// typeChoice is a type of relation that can be chosen.
type typeChoice struct {
	Name   string
	Chosen bool
}

// graphGroup is what one type of relation leads to.
type graphGroup struct {
	Type  string
	Class int
	Rows  []graphRow
}

type graphRow struct {
	Title, URL string
	Outward    bool // the relation leads to it
	Steps      int
	Trust      amber.Trust
}

func (v graphScreen) graph() error {
	d := graphData{Memory: v.query("memory"), Depth: 2}
	if n, err := strconv.Atoi(v.query("depth")); err == nil && (n == 1 || n == 2) {
		d.Depth = n
	}
	s := screen{Title: "Graph", Nav: "graph"}
	if d.Memory == "" {
		return v.render("graph", s, d)
	}
	ctx := v.r.Context()
	store, err := v.remote.Store(ctx)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(v.r.URL.Query()["type"]), func(t string) bool { return t == "" })
	q := amber.NeighbourQuery{ID: amber.MemoryID(d.Memory), Depth: d.Depth, Types: chosen, All: true}
	near, err := store.Relations.Neighbours(ctx, q)
	if err != nil {
		return err
	}
	all := near
	if len(chosen) > 0 {
		q.Types = nil
		if all, err = store.Relations.Neighbours(ctx, q); err != nil {
			return err
		}
	}
	d.choose(all.Relations, chosen)
	d.fill(v.visit, near)
	words := []string{"relation", "near", d.Memory, "--all", "--depth", strconv.Itoa(d.Depth)}
	for _, t := range chosen {
		words = append(words, "--type", t)
	}
	s.Command = v.command(words...)
	return v.render("graph", s, d)
}

// choose lists the types that relations here have, and those that were asked for.
func (d *graphData) choose(relations []amber.Relation, chosen []string) {
	names := slices.Clone(chosen)
	for _, r := range relations {
		names = append(names, r.Type)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, n := range names[:min(len(names), 30)] {
		d.Types = append(d.Types, typeChoice{n, slices.Contains(chosen, n)})
	}
}

func titleOf(n amber.Neighbour) string {
	return brief(clip.Line(cmp.Or(n.Title, n.Snippet, string(n.ID))), shownTitle)
}

// fill makes the picture and the list of a neighbourhood.
func (d *graphData) fill(v *visit, near amber.Neighbourhood) {
	d.Center, d.More, d.Count = near.Memories[0], near.More, len(near.Memories)-1
	d.Title, d.URL = titleOf(d.Center), v.path("memories", string(d.Center.ID))
	leads := leading(near)
	group := map[string]*graphGroup{}
	for _, m := range near.Memories[1:] {
		r, known := leads[m.ID]
		if !known {
			continue
		}
		g := group[r.Type]
		if g == nil {
			g = &graphGroup{Type: r.Type}
			group[r.Type] = g
		}
		g.Rows = append(g.Rows, graphRow{
			Title: titleOf(m), URL: "memories/" + url.PathEscape(string(m.ID)), // short: there are many
			Outward: r.To == m.ID, Steps: m.Distance, Trust: m.Trust,
		})
	}
	for _, g := range group {
		d.Groups = append(d.Groups, *g)
	}
	slices.SortFunc(d.Groups, func(a, b graphGroup) int { return cmp.Compare(a.Type, b.Type) })
	class := map[string]int{}
	for i := range d.Groups {
		d.Groups[i].Class = i % lineStyles
		class[d.Groups[i].Type] = i % lineStyles
	}
	d.Picture = layOut(near, leads, class)
	for i := range d.Picture.Nodes {
		n := &d.Picture.Nodes[i]
		n.URL = "?memory=" + url.QueryEscape(string(n.ID))
	}
}

// leading finds the relation that leads to each memory: the first one from a memory that is
// nearer.
func leading(near amber.Neighbourhood) map[amber.MemoryID]amber.Relation {
	distance := map[amber.MemoryID]int{}
	for _, m := range near.Memories {
		distance[m.ID] = m.Distance
	}
	leads := map[amber.MemoryID]amber.Relation{}
	for _, r := range near.Relations {
		far, from := r.To, r.From
		if distance[far] < distance[from] {
			far, from = from, far
		}
		if _, known := leads[far]; !known && distance[far] == distance[from]+1 {
			leads[far] = r
		}
	}
	return leads
}
