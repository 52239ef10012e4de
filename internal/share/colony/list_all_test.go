package colony_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestPagesOfAList(t *testing.T) {
	t.Parallel()
	var all []colony.Listed
	for _, id := range []colony.SnapshotID{"5", "4", "3", "2", "1"} {
		all = append(all, colony.Listed{Info: colony.Info{ID: id, Label: "l"}})
	}
	var got [][]colony.SnapshotID
	for c := amber.Cursor(""); ; {
		p := colony.PageOf(all, 2, c)
		var ids []colony.SnapshotID
		for _, l := range p.Items {
			ids = append(ids, l.ID)
		}
		got = append(got, ids)
		if c = p.Next; c == "" {
			break
		}
		if c == "4.l" { // it is removed before the next page is read
			all = append(all[:1:1], all[2:]...)
		}
	}
	must.Equal(t, "pages", got, [][]colony.SnapshotID{{"5", "4"}, {"3", "2"}, {"1"}})
}
