package web

import (
	"cmp"
	"math"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// lineStyles is how many styles of lines there are, by the type of relation.
const lineStyles = 4

// The measures of a picture.
const (
	labelHeight = 20  // lines of text do not touch
	labelWidth  = 210 // room for a label between the rings
	labelRunes  = 26
	runeWidth   = 7 // about
	leastRadius = 130
	mostLabels  = 60 // on the first ring; more nodes have a title alone
	edgeRoom    = 24
)

// picture is a neighbourhood in rings by distance: the memory in the middle, what is one
// step away around it, and what is two steps away outside.
type picture struct {
	Width, Height int
	Nodes         []graphNode
	Edges         []graphEdge
}

type graphNode struct {
	ID     amber.MemoryID
	Title  string
	Label  string // "": there is no room
	URL    string
	X, Y   int
	R      int // the radius of the dot
	LabelX int
	// The ground of the label, which hides the lines behind it.
	GroundX, GroundY, GroundW int
	Left                      bool // the label is on its left
	Ring                      int
}

type graphEdge struct {
	Type           string
	Class          int
	X1, Y1, X2, Y2 int
}

// layOut lays a neighbourhood out. The same neighbourhood gives the same picture.
func layOut(near amber.Neighbourhood, leads map[amber.MemoryID]amber.Relation, class map[string]int) *picture {
	first, second := rings(near, leads)
	r1 := max(leastRadius, labelHeight*(min(len(first), mostLabels)+1)/4)
	r2 := r1
	if len(second) > 0 {
		r2 = max(r1+60, 12*(len(second)+1)/4)
	}
	wide := r1 + labelWidth
	p := &picture{Width: 2 * (wide + edgeRoom), Height: 2 * (max(r1, r2) + edgeRoom)}
	x, y := p.Width/2, p.Height/2
	p.Nodes = append(p.Nodes, graphNode{ID: near.Memories[0].ID, Title: titleOf(near.Memories[0]), X: x, Y: y, R: 11})
	for i, m := range first {
		dx, dy := onRing(i, len(first), r1, r1)
		n := graphNode{ID: m.ID, Title: titleOf(m), X: x + dx, Y: y + dy, R: 8, Ring: 1, Left: dx < 0}
		if len(first) <= mostLabels {
			n.write(clip.Runes(n.Title, labelRunes))
		}
		p.Nodes = append(p.Nodes, n)
	}
	for i, m := range second {
		dx, dy := onRing(i, len(second), r1, r2)
		if i < (len(second)+1)/2 { // beyond the labels of the first ring
			dx += labelWidth
		} else {
			dx -= labelWidth
		}
		p.Nodes = append(p.Nodes, graphNode{ID: m.ID, Title: titleOf(m), X: x + dx, Y: y + dy, R: 5, Ring: 2, Left: dx < 0})
	}
	p.connect(near.Relations, class)
	return p
}

// write puts a label beside a node.
func (n *graphNode) write(label string) {
	n.Label, n.LabelX = label, n.X+14
	n.GroundW, n.GroundY = runeWidth*len([]rune(label))+4, n.Y-9
	n.GroundX = n.LabelX - 2
	if n.Left {
		n.LabelX = n.X - 14
		n.GroundX = n.LabelX - n.GroundW + 2
	}
}

// rings are the memories by distance: the first ring by type of relation, the second by the
// place of what leads there, so that lines cross little.
func rings(near amber.Neighbourhood, leads map[amber.MemoryID]amber.Relation) (first, second []amber.Neighbour) {
	for _, m := range near.Memories[1:] {
		if m.Distance == 1 {
			first = append(first, m)
		} else {
			second = append(second, m)
		}
	}
	slices.SortStableFunc(first, func(a, b amber.Neighbour) int { return cmp.Compare(leads[a.ID].Type, leads[b.ID].Type) })
	place := map[amber.MemoryID]int{}
	for i, m := range first {
		place[m.ID] = i
	}
	parent := func(m amber.Neighbour) int {
		r := leads[m.ID]
		if r.To == m.ID {
			return place[r.From]
		}
		return place[r.To]
	}
	slices.SortStableFunc(second, func(a, b amber.Neighbour) int { return cmp.Compare(parent(a), parent(b)) })
	return first, second
}

// onRing is the place of one of n nodes: down the right side and up the left one, at heights
// that are equally far apart, so that lines of text beside the nodes do not touch.
func onRing(i, n, rx, ry int) (x, y int) {
	right := (n + 1) / 2
	side, count := 1.0, right
	if i >= right {
		side, count, i = -1, n-right, n-1-i
	}
	h := (2*float64(i)+1)/float64(count) - 1 // -1 to 1
	return int(math.Round(side * float64(rx) * math.Sqrt(1-h*h))), int(math.Round(h * float64(ry)))
}

// connect draws the relations between the nodes.
func (p *picture) connect(relations []amber.Relation, class map[string]int) {
	at := map[amber.MemoryID]graphNode{}
	for _, n := range p.Nodes {
		at[n.ID] = n
	}
	for _, r := range relations[:min(len(relations), mostEdges)] {
		a, known := at[r.From]
		b, both := at[r.To]
		if known && both {
			p.Edges = append(p.Edges, graphEdge{r.Type, class[r.Type], a.X, a.Y, b.X, b.Y})
		}
	}
}
