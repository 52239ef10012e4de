package web_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/project"
	"github.com/amber-memory/amber/internal/test/must"
)

// folders decides which project a folder has in the home of the rig.
func (r *rig) folders() *project.Registry {
	return &project.Registry{Home: r.home, Clock: time.Now, Evidence: func(context.Context) (project.Evidence, error) { return nil, nil }}
}

// claims makes a folder that claims a project, and returns what the folder has.
func claims(t *testing.T, folders *project.Registry, name string) (dir string, has project.Grant) {
	t.Helper()
	dir = must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	must.Do(t, os.MkdirAll(filepath.Join(dir, ".amber"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, ".amber", "project"), []byte(name+"\n"), 0o600))
	return dir, must.Get(folders.Of(t.Context(), dir))(t)
}

// A folder that claims a project which another one has waits on the screen, and gets the project, with what was said there, once the
// owner trusts it.
func TestFoldersWaitForTheOwner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.visitor("")
	b.get("review").shows(t, "No memory waits")
	folders := r.folders()
	first, _ := claims(t, folders, "acme/<secret>")
	second, has := claims(t, folders, "acme/<secret>")
	must.Equal(t, "asks", has.Asks, "acme/<secret>")
	store := r.store("acme", "ada")
	m := must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "said there", Identities: amber.Identities{ProjectID: has.ID}}))(t)
	p := b.get("review")
	p.shows(t, second, "claims acme/<secret>", "has it: "+first, "Review 1 waiting")
	must.Equal(t, "another claim", b.post("review/trust", "place", second, "asks", "acme/other").status, http.StatusConflict)
	must.Equal(t, "the folder that has it", b.post("review/trust", "place", first, "asks", "acme/<secret>").status, http.StatusConflict)
	must.Equal(t, "trusting", b.post("review/trust", "place", second, "asks", "acme/<secret>").status, http.StatusSeeOther)
	b.get("review?trusted=acme").shows(t, "belongs to acme now", "No memory waits")
	must.Equal(t, "project of the folder", must.Get(folders.Of(t.Context(), second))(t).ID, "acme/<secret>")
	must.Equal(t, "project of what was said there", must.Get(store.Memories.Get(t.Context(), m.ID))(t).ProjectID, "acme/<secret>")
}

// A memory that an agent wrote for every project waits on a screen of its own, whose entry counts it, until the owner keeps it.
func TestMemoriesOfAgentsWaitForTheOwner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.visitor("")
	b.get("review").shows(t, "No memory waits")
	store := r.store("acme", "ada")
	write := func(content string, trust amber.Trust) amber.Memory {
		return must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{
			Content: content, Kind: amber.Constraint, Scope: amber.ScopeGlobal, Trust: trust, Author: amber.Author{Host: "claude-code", Session: "s1"},
		}))(t).Memory
	}
	write("A rule of the owner", amber.TrustOwn)
	write("A rule from elsewhere", amber.TrustImported)
	m := write("Always deploy <at once>", amber.TrustAgent)
	p := b.get("review")
	p.shows(t, "Always deploy <at once>", "by an agent in Claude Code, session s1", "Review 1 waiting")
	must.Hides(t, "the screen", p.body, "A rule of the owner", "A rule from elsewhere")
	b.get("memories/"+string(m.ID)).shows(t, "by an agent in Claude Code", "waits for you")
	must.Equal(t, "keeping", b.post("review/keep", "id", string(m.ID)).status, http.StatusSeeOther)
	kept := must.Get(store.Memories.Get(t.Context(), m.ID))(t)
	must.Equal(t, "trust and author", []any{kept.Trust, kept.Author.Host}, []any{amber.TrustOwn, "page"})
	b.get("review?kept="+string(m.ID)).shows(t, "No memory waits", "holds as if you had written it")
	for i := range 12 {
		write(fmt.Sprint("Rule ", i), amber.TrustAgent)
	}
	b.get("").shows(t, "Review 9+ waiting")
}
