package gitsync_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// Records that a folder has a say over: docs/decisions/0012.

// deploy is a topic that anybody can name, of a project that is not the folder's.
var deploy = amber.WriteRequest{
	Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "acme/private"}, Topic: "deploy", Content: "mine: through the gate",
}

// mallory writes about the same topic.
func mallory(t *testing.T) (*clone, amber.MemoryID) {
	t.Helper()
	m := newClone(t)
	theirs := deploy
	theirs.Content = "theirs"
	return m, m.write(theirs)
}

func (c *clone) erase(id amber.MemoryID) {
	c.t.Helper()
	must.Get(c.Erase(c.t.Context(), id))(c.t)
}

// pushes exports everything and gives it to another clone, which imports it.
func (c *clone) pushes(to *clone) wire.SyncImport {
	c.t.Helper()
	c.export(gitsync.ExportOptions{})
	c.gives(to)
	return to.imports()
}

// mustHold checks the newest version of a memory and that it is this home's own.
func mustHold(t *testing.T, c *clone, id amber.MemoryID, content string) {
	t.Helper()
	m, err := c.Get(t.Context(), id)
	if err != nil || m.Content != content || m.Trust != amber.TrustOwn || m.ProjectID != deploy.ProjectID || m.Scope != deploy.Scope {
		t.Errorf("it has %+v, %v; want %q", m, err, content)
	}
}

// A clone that only imports keeps every revision of a memory that others erase.
func TestAnErasureDoesNotReachWhatWasNeverInTheFolder(t *testing.T) {
	t.Parallel()
	victim := newClone(t)
	id := victim.write(deploy)
	victim.edit(id, "mine: twice")
	m, theirs := mallory(t)
	must.Equal(t, "id of the topic", theirs, id)
	m.erase(id)
	for range 2 {
		m.pushes(victim)
		mustHold(t, victim, id, "mine: twice")
		wantHistory(t, victim, id, deploy.Content, "mine: twice")
	}
	r := victim.export(gitsync.ExportOptions{})
	if len(r.Withheld) != 1 || r.Withheld[0].Ref.ID != string(id) || !strings.Contains(r.Withheld[0].Reason, "erased") {
		t.Errorf("withheld %+v", r.Withheld)
	}
	victim.imports()
	mustHold(t, victim, id, "mine: twice")
}

// An edit does not make a memory the folder's, in whatever pushes it comes: the
// edit lies beside it, where everybody sees it, and an erasure takes the edit.
func TestAnEditDoesNotPrepareAnErasure(t *testing.T) {
	t.Parallel()
	for name, pushes := range map[string]int{"two pushes": 2, "one push that is tried again": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			victim := newClone(t)
			id := victim.write(deploy)
			victim.save("of the shop")
			victim.export(gitsync.ExportOptions{Project: shop})
			m, _ := mallory(t)
			m.edit(id, "theirs, later")
			if pushes == 2 {
				r := m.pushes(victim)
				st := victim.status()
				if r.Conflicts != 1 || st.ConflictCount != 1 || st.Conflicts[0].Kept.Content != deploy.Content || st.Conflicts[0].Others[0].Content != "theirs, later" {
					t.Errorf("conflicts %d, %+v", r.Conflicts, st.Conflicts)
				}
				mustHold(t, victim, id, deploy.Content)
				m.erase(id)
				m.pushes(victim)
			} else {
				records := m.outgoing(id)
				forge(t, victim, append(records, amber.SyncRecord{Erased: &amber.SyncErased{ID: id, Origin: amber.Origin{Device: "x", Counter: 9}}})...)
				victim.imports()
			}
			victim.imports()
			victim.export(gitsync.ExportOptions{Project: shop})
			victim.imports()
			mustHold(t, victim, id, deploy.Content)
			wantHistory(t, victim, id, deploy.Content)
		})
	}
}

// outgoing returns the versions of a memory as they would leave.
func (c *clone) outgoing(id amber.MemoryID) (out []amber.SyncRecord) {
	c.t.Helper()
	for _, r := range must.Get(c.Outgoing(c.t.Context(), amber.OutgoingRequest{Place: "nowhere"}))(c.t).Records {
		if r.Memory != nil && r.Memory.ID == id {
			out = append(out, r)
		}
	}
	return out
}

// An erasure takes the versions that were in the folder, and their text with them. A version that a person wrote on top
// of them and did not export yet stays.
func TestAnErasureTakesTheVersionsThatWereThere(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	id := a.save("shared, with a slip")
	a.pushes(b)
	a.edit(id, "mine alone")
	b.erase(id)
	b.pushes(a)
	wantHistory(t, a, id, "mine alone")
	if r := a.export(gitsync.ExportOptions{}); !r.IsEmpty || len(r.Withheld) != 1 {
		t.Errorf("exported %+v", r)
	}
	a.pushes(b)
	must.Equal(t, "texts of the clone that erased", len(b.texts()), 0)
}

// Members of a project go on as they did: what was exported is everybody's.
func TestMembersEditDeleteAndEraseWhatWasExported(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	edited, deleted, erased := a.save("to be edited"), a.save("to be deleted"), a.save("to be erased")
	a.pushes(b)
	b.edit(edited, "edited")
	must.Do(t, b.Delete(t.Context(), deleted))
	b.erase(erased)
	b.pushes(a)
	wantTexts(t, a, "edited")
	must.Fail(amber.All(t.Context(), a.History, erased))(t, "history of what was erased", amber.KindNotFound)
	wantConflicts(t, a, 0)
}

// When two clones began one topic, each shows its own text, and the other text as a conflict, until it has exported its
// own, too: then all agree.
func TestTwoWhoBeganATopicAgreeOnceBothExported(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	one, two := deploy, deploy
	one.Content, two.Content = "a's", "b's"
	id := a.write(one)
	b.clock.turn(3600e9)
	b.write(two)
	b.pushes(a)
	if got := a.texts(); !slices.Equal(got, []string{"a's"}) || a.status().ConflictCount != 1 {
		t.Errorf("before the export: %q, %d conflicts", got, a.status().ConflictCount)
	}
	settled(a, b)
	for _, c := range []*clone{a, b} {
		if got := c.texts(); !slices.Equal(got, []string{"b's"}) || c.status().ConflictCount != 1 {
			t.Errorf("settled: %q, %d conflicts", got, c.status().ConflictCount)
		}
	}
	a.edit(id, "both")
	settled(a, b)
	for _, c := range []*clone{a, b} {
		if got := c.texts(); !slices.Equal(got, []string{"both"}) || c.status().ConflictCount != 0 {
			t.Errorf("edited: %q, %d conflicts", got, c.status().ConflictCount)
		}
	}
}
