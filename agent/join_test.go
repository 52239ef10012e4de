package agent

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestAgentsJoinWhatIsNotTheOwners: a project with one memory of the owner is joined to another by its owner alone, and nothing of it
// by an agent.
func TestAgentsJoinWhatIsNotTheOwners(t *testing.T) {
	t.Parallel()
	a := opened(t)
	ctx := t.Context()
	write := func(text string, trust amber.Trust) {
		must.Get(a.Store().LongTerm.Write(ctx, amber.WriteRequest{
			Content: text, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "Shop"}, Trust: trust,
		}))(t)
	}
	in := func(project string) int { return must.Get(StoredUnder(ctx, a.Store(), project))(t).Memories }
	join := func(by amber.Trust) error {
		_, _, err := a.JoinProject(ctx, "Shop", "shop", by)
		return err
	}
	write("an agent's", amber.TrustAgent)
	must.Do(t, join(amber.TrustAgent))
	must.Equal(t, "joined", in("shop"), 1)
	write("the owner's", amber.TrustOwn)
	write("another of an agent", amber.TrustAgent)
	must.Kind(t, "an agent moves what is the owner's", join(amber.TrustAgent), amber.KindRefused)
	must.Equal(t, "joined by half", in("shop"), 1)
	must.Do(t, join(amber.TrustOwn))
	must.Get(a.Store().Sessions.StartSession(ctx, amber.SessionStart{ID: "s1", Project: "Shop"}))(t)
	must.Kind(t, "an agent moves a session of the owner", join(amber.TrustAgent), amber.KindRefused)
	must.Equal(t, "the project of the session", must.Get(a.Store().Sessions.Session(ctx, "s1"))(t).Project, "Shop")
	must.Do(t, join(amber.TrustOwn))
	must.Equal(t, "joined by the owner", in("shop"), 3)
}
