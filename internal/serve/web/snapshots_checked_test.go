package web_test

import (
	"os"
	"testing"

	"filippo.io/age"

	"github.com/amber-memory/amber/agent"
	keys "github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// freezeSealed takes a snapshot that no key of the home can open afterwards.
func (r *rig) freezeSealed() wire.SnapshotMeta {
	r.t.Helper()
	o := r.options("acme", "ada")
	o.Config.Snapshot.Encryption.Recipients = []string{must.Get(age.GenerateX25519Identity())(r.t).Recipient().String()}
	a := must.Get(agent.Open(r.t.Context(), o))(r.t)
	meta := must.Get(a.Snapshot(r.t.Context(), wire.SnapshotRequest{Label: "sealed"}))(r.t)
	must.Do(r.t, a.Close())
	must.Do(r.t, os.Remove(r.home+"/keys/"+keys.AgeIdentityFile))
	return meta
}

func TestACheckThatCouldNotReadTheContentDoesNotSayThatItDid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.remember("one")
	s := r.freezeSealed()
	b := r.visitor("")
	b.get("snapshots")
	for _, fields := range [][]string{{"read_data", "1"}, {}} {
		p := b.ended(b.post("snapshots/"+string(s.ID)+"/verify", fields...).header.Get("Location"))
		p.mustShow(t, "No damage was found in what was checked", "not every object was looked for", "no identity opens it")
		p.mustNotShow(t, "looked whether everything is there")
		p = b.get("snapshots")
		p.mustShow(t, "no damage found (5 things were not checked)")
		p.mustNotShow(t, "every byte was read", "the objects were looked for")
	}
}
