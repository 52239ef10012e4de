package web_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/must"
)

// What an agent said for every project waits on a screen of its own, whose entry counts it, until the owner keeps it.
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
