package snapshot_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// manifestPath returns the file of a snapshot's manifest.
func (w *world) manifestPath(id amber.SnapshotID) string {
	return filepath.Join(w.home.RepoDir("default"), "snapshots", "default", string(id)+".json")
}

// rewrite changes the manifest of a snapshot.
func (w *world) rewrite(id amber.SnapshotID, change func([]byte) []byte) {
	w.t.Helper()
	b := must.Get(os.ReadFile(w.manifestPath(id)))(w.t)
	must.Do(w.t, os.WriteFile(w.manifestPath(id), change(bytes.Clone(b)), 0o600))
}

var signatures = regexp.MustCompile(`"signatures":\[.*\]`)

func strip(b []byte) []byte { return signatures.ReplaceAll(b, []byte(`"signatures":[]`)) }

// TestNothingIsReadFromASnapshotWhoseSignatureIsWrong tries every way to use
// one.
func TestNothingIsReadFromASnapshotWhoseSignatureIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plant(w)
	first := w.snapshot()
	if first.SignedBy == "" {
		t.Fatal("the first snapshot is not signed")
	}
	w.remember("more")
	later := w.snapshot()
	otherSignature := func(b []byte) []byte {
		i := bytes.Index(b, []byte(`"sig":"`)) + len(`"sig":"`)
		b[i] = map[bool]byte{true: 'B', false: 'A'}[b[i] == 'A']
		return b
	}
	for name, change := range map[string]func([]byte) []byte{"stripped": strip, "changed": otherSignature} {
		t.Run(name, func(t *testing.T) {
			was := must.Get(os.ReadFile(w.manifestPath(later.ID)))(t)
			w.rewrite(later.ID, change)
			defer w.rewrite(later.ID, func([]byte) []byte { return was })
			past := func() error {
				p, err := w.engine.At(t.Context(), ref(later.ID))
				if err == nil {
					_ = p.Close()
				}
				return err
			}
			for what, err := range map[string]error{
				"restore": w.tryRestore(later.ID),
				"fork":    w.tryRestore(later.ID, asNew("copy")),
				"export":  must.Err(w.engine.Export(t.Context(), wire.ExportRequest{SnapshotRef: ref(later.ID), File: t.TempDir()})),
				"diff":    must.Err(w.engine.DiffSnapshots(t.Context(), wire.DiffRequest{Tenant: "default", Agent: "default", A: first.ID, B: later.ID})),
				"at":      past(),
				"extract": must.Err(w.engine.ExtractSource(t.Context(), ref(later.ID), "x", filepath.Join(t.TempDir(), "x"))),
			} {
				must.Kind(t, what, err, amber.KindUntrusted)
			}
			if newest := w.list()[0]; newest.SignedBy != "" || newest.Damage == "" {
				t.Errorf("the listing says %+v", newest)
			}
			if report := must.Get(w.engine.VerifySnapshot(t.Context(), wire.VerifyRequest{SnapshotRef: ref(later.ID)}))(t); report.OK() {
				t.Errorf("verify says %+v", report)
			}
			must.Get(w.engine.PruneSnapshots(t.Context(), wire.PruneRequest{Tenant: "default", Agent: "default", KeepLast: 1}))(t)
			w.mustVerifyAlone(first.ID)
		})
	}
	w.mustVerify(later.ID)
}

// mustVerifyAlone makes sure that a snapshot is there and readable, whatever is
// said about its chain.
func (w *world) mustVerifyAlone(id amber.SnapshotID) {
	w.t.Helper()
	must.NoError(w.t, must.Err(w.engine.ShowSnapshot(w.t.Context(), ref(id))))
}

// A manifest that was rewritten without its signer is a link that no signed chain
// has.
func TestASignedChainStaysSigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("x")
	w.snapshot()
	unsigned := func(r *wire.SnapshotRequest) { r.NoSign = true }
	must.Fail(w.trySnapshot(unsigned))(t, "an unsigned successor", amber.KindRefused)
	quiet := openWorld(t, w.dir, func(o *snapshot.Options) { o.Keys.NoSign = true })
	meta := quiet.snapshot()
	if meta.SignedBy == "" || !slices.ContainsFunc(meta.Warnings, func(s string) bool { return strings.Contains(s, "the snapshot was signed because") }) {
		t.Errorf("signed by %q, warnings %q", meta.SignedBy, meta.Warnings)
	}
	w.mustCheck()
	plain := newWorld(t, func(o *snapshot.Options) { o.Keys.NoSign = true })
	plain.remember("y")
	must.Equal(t, "key of a snapshot with signing off", plain.snapshot().SignedBy, "")
	plain.mustCheck()
	must.Is(t, "the key", must.Err(os.Stat(filepath.Join(plain.dir, "keys", "signing.seed"))), fs.ErrNotExist)
}

// An attacker has replaced the last manifest. The next snapshot must not use pages that this
// manifest names.
func TestTheNextSnapshotDoesNotBuildOnAManifestSomebodyElseWrote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plant(w)
	first := w.snapshot()
	was := must.Get(os.ReadFile(w.manifestPath(first.ID)))(t)
	w.rewrite(first.ID, strip)
	w.remember("meanwhile")
	second := w.snapshot()
	w.rewrite(first.ID, func([]byte) []byte { return was })
	w.remember("afterwards")
	if third := w.snapshot(); second.BytesNew < 2*third.BytesNew {
		t.Errorf("it stored %d bytes, one that builds on the last stores %d: it relies on what it cannot trust", second.BytesNew, third.BytesNew)
	}
	w.mustVerify(second.ID)
}

func TestWhatAStrangerMadeIsNotSignedByWhoImportsIt(t *testing.T) {
	t.Parallel()
	w, meta := frozen(t, "theirs")
	report := w.export(meta.ID, exact)
	other := newWorld(t)
	imported := must.Get(other.take(report.File))(t)
	must.Equal(t, "the signer of what was imported", imported.Snapshot.SignedBy, "")
	strict := openWorld(t, other.dir, func(o *snapshot.Options) { o.Keys.RequireSigned = true })
	must.Kind(t, "restored where policy asks for a signature", strict.tryRestore(imported.Snapshot.ID), amber.KindRefused)
	// One's own comes back signed.
	again := must.Get(w.engine.Import(t.Context(), wire.ImportRequest{Tenant: "default", File: report.File, To: "copy"}))(t)
	must.Equal(t, "the signer of one's own", again.Snapshot.SignedBy, meta.SignedBy)
}

// Retention counts the snapshots of each device apart: snapshots of other devices in the repository
// do not push out the ones taken here.
func TestRetentionCountsEachDeviceApart(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t), newWorld(t)
	w.remember("mine")
	mine := w.snapshot()
	for range 3 {
		other.remember("theirs")
		report := other.export(other.snapshot().ID, exact)
		must.Get(w.take(report.File))(t)
	}
	must.Get(w.engine.PruneSnapshots(t.Context(), wire.PruneRequest{Tenant: "default", Agent: "default", KeepLast: 1}))(t)
	w.mustVerify(mine.ID)
}

// A bundle of an encrypted repository does not become plain by itself.
func TestABundleOfAnEncryptedRepositoryIsEncrypted(t *testing.T) {
	t.Parallel()
	ann := newPerson(t)
	w := newWorld(t)
	plant(w)
	meta := w.snapshot(func(r *wire.SnapshotRequest) { r.Encrypt = []string{ann.recipient} })
	report := w.export(meta.ID, exact)
	b, err := os.ReadFile(report.File)
	if err != nil || !report.Encrypted || bytes.Contains(b, []byte(markers[0])) || !strings.HasSuffix(report.File, ".age") {
		t.Errorf("the bundle is %+v, %v", report, err)
	}
	friend := newWorld(t, func(o *snapshot.Options) { o.Keys.Identities = []string{ann.file} })
	must.Get(friend.take(report.File))(t)
	stranger := newWorld(t)
	must.Fail(stranger.take(report.File))(t, "without the identity", amber.KindRefused)
	stranger.nothingLeft()
}

func TestAConfiguredRecipientIsNotRemovedToComeBack(t *testing.T) {
	t.Parallel()
	ann := newPerson(t)
	w := newWorld(t, func(o *snapshot.Options) { o.Keys.Recipients = []string{ann.recipient} })
	w.remember("x")
	w.snapshot()
	_, err := w.engine.ChangeRecipients(t.Context(), "default", nil, []string{ann.recipient}, true)
	must.Kind(t, "change of recipients", err, amber.KindRefused)
}
