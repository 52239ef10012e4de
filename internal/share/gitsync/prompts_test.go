package gitsync_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
)

// digest writes what Amber makes of a session by itself.
func (c *clone) digest(content string) amber.MemoryID {
	c.t.Helper()
	return c.write(amber.WriteRequest{
		Kind: amber.SessionSummary, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: shop},
		Content: content, Trust: amber.TrustDerived,
	})
}

func TestWhatWasTypedStaysUnlessItIsShared(t *testing.T) {
	t.Parallel()
	a, b := cloneAt(t, t.TempDir(), gitsync.Options{}), newClone(t)
	must.Get(a.StartSession(t.Context(), amber.SessionStart{ID: "s", Project: shop}))(t)
	a.prompt("s", "typed")
	a.save("a memory")
	id := a.digest("Asked: typed")
	gone := a.digest("Asked: nothing")
	must.Do(t, a.Delete(t.Context(), gone))
	waiting := a.status().PendingExport
	r := a.export(gitsync.ExportOptions{})
	if r.Prompts != 0 || r.PromptsKept != 1 || r.DigestsKept != 1 || r.Observations != 1 || r.Sessions != 1 || r.Deleted != 1 {
		t.Errorf("export: %+v", r)
	}
	must.Equal(t, "pending export", waiting, int64(r.Observations+r.Sessions+r.Deleted))
	a.gives(b)
	b.imports()
	if said := b.said("s"); len(said) > 0 || slices.ContainsFunc(b.texts(), func(s string) bool { return strings.Contains(s, "typed") }) {
		t.Errorf("what was typed left: %q, %q", said, b.texts())
	}

	// Nothing but a prompt is nothing new.
	a.prompt("s", "typed later")
	if r := a.export(gitsync.ExportOptions{}); r.PromptsKept != 1 || r.Prompts != 0 {
		t.Errorf("export of a prompt: %+v", r)
	}
	must.Equal(t, "status", a.status().PendingExport, 0)

	// After an edit it is not known what is left of the prompt.
	a.edit(id, "Asked: typed, and more")
	if r := a.export(gitsync.ExportOptions{}); r.Observations != 0 || r.DigestsKept != 1 || !r.IsEmpty {
		t.Errorf("export of an edit: %+v", r)
	}

	// A person who asks for prompts shares what stayed before.
	shares := must.Get(gitsync.Options{Prompts: true}.Open(a.Store, a.folder))(t)
	if r, err := shares.Export(t.Context(), gitsync.ExportOptions{Again: true}); err != nil || r.Prompts != 2 || r.Observations != 2 || r.PromptsKept+r.DigestsKept != 0 {
		t.Errorf("export with prompts: %+v, %v", r, err)
	}
}
