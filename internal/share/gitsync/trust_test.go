package gitsync_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"slices"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// hand signs with a key of its own.
type hand struct{ key ed25519.PrivateKey }

func newHand(t *testing.T) hand {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
	return hand{key}
}

func (h hand) KeyID() sign.KeyID { return sign.NewKeyID(h.key.Public().(ed25519.PublicKey)) }

func (h hand) Sign(_ context.Context, message []byte) (sign.Signature, error) {
	return sign.SignWith(h.key, message), nil
}

// friends trusts some keys.
type friends []sign.KeyID

func (f friends) Standing(_ context.Context, key sign.KeyID) (sign.Standing, error) {
	if slices.Contains(f, key) {
		return sign.StandingTrusted, nil
	}
	return sign.StandingStranger, nil
}

func TestTrustOfWhatIsImported(t *testing.T) {
	t.Parallel()
	alice, mallory := newHand(t), newHand(t)
	from := func(signer sign.Signer, o gitsync.Options) (amber.Trust, wire.SyncImport, *clone) {
		a := cloneAt(t, t.TempDir(), gitsync.Options{Signer: signer})
		id := a.save("something")
		a.write(amber.WriteRequest{Content: "found by rule", Trust: amber.TrustDerived})
		a.export(gitsync.ExportOptions{})
		b := cloneAt(t, t.TempDir(), o)
		a.gives(b)
		r := b.imports()
		m, err := b.Get(t.Context(), id)
		if err != nil {
			return "", r, b
		}
		return m.Trust, r, b
	}
	trusting := gitsync.Options{Trust: friends{alice.KeyID()}}
	strict := gitsync.Options{Trust: friends{alice.KeyID()}, RequireSigned: true}
	for _, c := range []struct {
		name   string
		signer sign.Signer
		o      gitsync.Options
		want   amber.Trust
	}{
		{"by a friend", alice, trusting, amber.TrustSigned},
		{"by a friend, required", alice, strict, amber.TrustSigned},
		{"by a stranger", mallory, trusting, amber.TrustImported},
		{"by nobody", nil, trusting, amber.TrustImported},
		{"by a friend of nobody", alice, gitsync.Options{}, amber.TrustImported},
		{"by a stranger, required", mallory, strict, ""},
		{"by nobody, required", nil, strict, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, r, b := from(c.signer, c.o)
			must.Equal(t, "trust", got, c.want)
			if refused := len(r.Quarantined) == 1 && r.Quarantined[0].Kind == amber.KindRefused; refused != (c.want == "") {
				t.Errorf("import: %+v", r)
			}
			for _, m := range must.Get(b.List(t.Context(), amber.ListQuery{All: true}))(t).Items {
				want := amber.TrustDerived
				if c.want == amber.TrustImported {
					want = amber.TrustImported // that a rule found it is a claim, too
				}
				if m.Content == "found by rule" && m.Trust != want {
					t.Errorf("what was derived is %q now, want %q", m.Trust, want)
				}
			}
		})
	}
}

func TestNobodyVouchesForWhatSomebodyElseSaid(t *testing.T) {
	t.Parallel()
	alice := newHand(t)
	mallory := newClone(t)
	id := mallory.shares("trust me")
	a := cloneAt(t, t.TempDir(), gitsync.Options{Signer: alice})
	mallory.gives(a)
	a.imports()
	// Alice passes it on to another folder, signed by her.
	second := cloneAt(t, t.TempDir(), gitsync.Options{Trust: friends{alice.KeyID()}})
	s := must.Get(gitsync.Options{Signer: alice}.Open(a.Store, second.folder))(t)
	must.Equal(t, "export", must.Get(s.Export(t.Context(), gitsync.ExportOptions{}))(t).Observations, 1)
	second.imports()
	must.Equal(t, "trust", must.Get(second.Get(t.Context(), id))(t).Trust, amber.TrustImported)
}

func TestVerifyTellsWhoSigned(t *testing.T) {
	t.Parallel()
	alice, mallory := newHand(t), newHand(t)
	c := cloneAt(t, t.TempDir(), gitsync.Options{Trust: friends{alice.KeyID()}})
	for _, signer := range []sign.Signer{alice, mallory, nil} {
		a := cloneAt(t, t.TempDir(), gitsync.Options{Signer: signer})
		a.shares("something")
		a.gives(c)
	}
	v, err := c.sync.Verify(t.Context())
	if err != nil || v.Signed != 1 || v.Unknown != 1 || v.Unsigned != 1 || len(v.Damaged) != 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	if len(v.Checked) == 0 || len(v.NotChecked) != 3 {
		t.Errorf("checked %q, not checked %q", v.Checked, v.NotChecked)
	}
	wantTexts(t, c) // nothing was imported
}
