package web

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/amber-memory/amber"
)

// around is a memory with n others one step and m two steps away.
func around(n, m int) amber.Neighbourhood {
	near := amber.Neighbourhood{Memories: []amber.Neighbour{{ID: "m", Title: "middle"}}}
	for i := range n + m {
		id, from, distance := amber.MemoryID(fmt.Sprint("r", i)), amber.MemoryID("m"), 1
		if i >= n {
			from, distance = amber.MemoryID(fmt.Sprint("r", i%n)), 2
		}
		near.Memories = append(near.Memories, amber.Neighbour{ID: id, Distance: distance, Title: fmt.Sprint("a rather long title of memory ", i)})
		near.Relations = append(near.Relations, amber.Relation{ID: string(id), From: from, To: id, Type: []string{"related", "supersedes"}[i%2]})
	}
	return near
}

func TestTheGraphIsLaidOutTheSameEveryTimeAndNothingOverlaps(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{1, 0}, {2, 1}, {7, 3}, {20, 60}, {60, 139}, {199, 0}, {1, 198}} {
		near := around(size[0], size[1])
		p := layOut(near, leading(near), map[string]int{"related": 0, "supersedes": 1})
		if again := layOut(near, leading(near), map[string]int{"related": 0, "supersedes": 1}); !reflect.DeepEqual(p, again) {
			t.Errorf("%v: two layouts differ", size)
		}
		if len(p.Nodes) != 1+size[0]+size[1] || len(p.Edges) != size[0]+size[1] {
			t.Fatalf("%v: %d nodes, %d edges", size, len(p.Nodes), len(p.Edges))
		}
		checkPicture(t, p, fmt.Sprint(size))
	}
}

func checkPicture(t *testing.T, p *picture, name string) {
	t.Helper()
	for i, a := range p.Nodes {
		if a.X < a.R || a.Y < a.R || a.X+a.R > p.Width || a.Y+a.R > p.Height || a.Label != "" && (a.GroundX < 0 || a.GroundX+a.GroundW > p.Width) {
			t.Errorf("%s: node %s at %d, %d is outside of %d, %d", name, a.ID, a.X, a.Y, p.Width, p.Height)
		}
		for _, b := range p.Nodes[i+1:] {
			if a.X == b.X && a.Y == b.Y {
				t.Errorf("%s: %s and %s are at one place", name, a.ID, b.ID)
			}
			if a.Label != "" && b.Label != "" && a.Left == b.Left && a.GroundX < b.GroundX+b.GroundW && b.GroundX < a.GroundX+a.GroundW && max(a.Y-b.Y, b.Y-a.Y) < 16 {
				t.Errorf("%s: the labels of %s and %s overlap", name, a.ID, b.ID)
			}
			if a.Label != "" && b.Ring == 2 && b.X+b.R > a.GroundX && b.X-b.R < a.GroundX+a.GroundW && b.Y+b.R > a.GroundY && b.Y-b.R < a.GroundY+18 {
				t.Errorf("%s: the dot of %s is in the label of %s", name, b.ID, a.ID)
			}
		}
	}
}
