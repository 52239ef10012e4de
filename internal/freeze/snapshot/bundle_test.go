package snapshot_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/guard/redact/secrettest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// export writes a bundle of a snapshot to a folder of its own.
func (w *world) export(id amber.SnapshotID, options ...func(*wire.ExportRequest)) wire.ExportReport {
	w.t.Helper()
	r := wire.ExportRequest{SnapshotRef: ref(id), File: w.t.TempDir()}
	for _, f := range options {
		f(&r)
	}
	return must.Get(w.engine.Export(w.t.Context(), r))(w.t)
}

// take imports a bundle.
func (w *world) take(file string) (wire.ImportReport, error) {
	return w.engine.Import(w.t.Context(), wire.ImportRequest{Tenant: "default", File: file})
}

func exact(r *wire.ExportRequest) { r.NoRedact = true }

func nexo(r *wire.ExportRequest) { r.Format = wire.FormatNexo }

// nothingLeft makes sure that no scratch folder is left.
func (w *world) nothingLeft() {
	w.t.Helper()
	left, err := os.ReadDir(filepath.Join(w.dir, "cache", "scratch"))
	if err != nil && !os.IsNotExist(err) || len(left) > 0 {
		w.t.Errorf("scratch folders are left: %v, %v", left, err)
	}
}

// entries returns every file of a plain bundle.
func entries(t *testing.T, file string) map[string][]byte {
	t.Helper()
	f := must.Get(os.Open(file))(t)
	defer f.Close()
	z := must.Get(zstd.NewReader(f))(t)
	defer z.Close()
	all := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		must.Do(t, err)
		all[h.Name] = must.Get(io.ReadAll(r))(t)
	}
}

// gitObjects returns every object of a git pack, one behind another.
func gitObjects(t *testing.T, bundle []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "x.bundle")
	must.Do(t, os.WriteFile(file, bundle, 0o600))
	git := func(args ...string) []byte {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return out
	}
	git("init", "-q", "--bare", "x.git")
	git("--git-dir", "x.git", "fetch", "-q", file, "*:refs/kept/*")
	return git("--git-dir", "x.git", "cat-file", "--batch", "--batch-all-objects", "--buffer")
}

func TestABundleComesBackOnAnotherMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plant(w)
	before := w.all()
	meta := w.snapshot()
	report := w.export(meta.ID, exact)
	w.nothingLeft()

	fresh := newWorld(t)
	imported := must.Get(fresh.take(report.File))(t)
	if imported.Snapshot.ID != meta.ID || imported.Signature.Status != sign.SignatureValid || imported.Signature.Standing != sign.StandingStranger {
		t.Errorf("imported %+v", imported)
	}
	fresh.mustVerify(meta.ID)
	fresh.mustCheck()
	fresh.restore(meta.ID)
	fresh.mustBe(before)
	must.Equal(t, "the second import finds it", must.Get(fresh.take(report.File))(t).Existed, true)
	must.Do(t, fresh.engine.DeleteSnapshot(t.Context(), ref(meta.ID)))
	if renamed := must.Get(fresh.take(report.File))(t); renamed.Snapshot.ID == meta.ID {
		t.Errorf("the import of what was deleted: %+v", renamed)
	}
	fresh.mustCheck()
	fresh.nothingLeft()
}

func TestABundleIsRestoredWithoutARepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plant(w)
	before := w.all()
	report := w.export(w.snapshot().ID, exact)

	live := newWorld(t)
	live.remember("of the other agent")
	was := live.all()
	r := wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{Tenant: "default"}, DryRun: true}
	plan, err := live.engine.RestoreBundle(t.Context(), report.File, r)
	if err != nil || plan.Plan.Store.Table("memories").Added != 1 || plan.Plan.Store.Table("memories").Removed != 1 || plan.Plan.Notes.Added != 2 {
		t.Errorf("the plan is %+v, %v", plan, err)
	}
	live.mustBe(was)
	r.DryRun = false
	done := must.Get(live.engine.RestoreBundle(t.Context(), report.File, r))(t)
	live.mustBe(before)
	live.restore(done.SafetySnapshot)
	live.mustBe(was)
	r.To = "copy"
	must.Get(live.engine.RestoreBundle(t.Context(), report.File, r))(t)
	live.nothingLeft()
}

// TestRedactedBundlesHoldNoSecret plants secrets of every shape in rows,
// notes, their history and state, and looks for them in every byte that leaves.
func TestRedactedBundlesHoldNoSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	corpus := secrettest.Corpus(7)
	if len(corpus) < 60 {
		t.Fatalf("%d secrets", len(corpus))
	}
	var all strings.Builder
	for i, s := range corpus {
		fmt.Fprintf(&all, "line %d\n%s\nend of it\n", i, s.Text())
		w.remember(fmt.Sprintf("memory %d says\n%s\nand ends", i, s.Text()))
	}
	w.note("history", "once:\n"+all.String())
	w.note("history", "nothing any more\n")
	w.note("now", all.String())
	var doc bytes.Buffer
	doc.WriteString(`{"list":[`)
	for i, s := range corpus {
		if i > 0 {
			doc.WriteString(",")
		}
		fmt.Fprintf(&doc, "%q", s.Text())
	}
	doc.WriteString("]}")
	w.state("extract_cursor", strings.ToValidUTF8(doc.String(), "?"))
	turn := amber.Turn{SessionID: "s1", Role: amber.RoleTool, Content: all.String()}
	must.Get(w.store.AppendTurn(t.Context(), turn))(t)
	live := w.all()
	for _, s := range corpus {
		must.Hold(t, strings.Contains(live.Notes["now"], s.Value), "the live agent does not hold a %s", s.Rule)
	}
	meta := w.snapshot()
	for _, format := range []func(*wire.ExportRequest){func(*wire.ExportRequest) {}, nexo} {
		report := w.export(meta.ID, format)
		if report.Redactions == nil || report.Redactions.Matches < int64(3*len(corpus)) || !report.Redacted {
			t.Errorf("the report is %+v", report)
		}
		for name, b := range entries(t, report.File) {
			if strings.HasSuffix(name, ".bundle") {
				b = append(b, gitObjects(t, b)...)
			}
			if name == "manifest.json" && report.Format == wire.FormatAmber {
				b = append(b, fmt.Sprint(report)...)
			}
			low := bytes.ToLower(b)
			for _, s := range corpus {
				if bytes.Contains(low, bytes.ToLower([]byte(s.Value))) {
					t.Errorf("%s of %s holds a %s: %q", name, report.Format, s.Rule, s.Text())
				}
			}
		}
	}
	w.nothingLeft()

	// A redacted bundle lacks the secrets of the agent, so it does not replace a live agent.
	report := w.export(meta.ID)
	r := wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{Tenant: "default"}}
	must.Fail(w.engine.RestoreBundle(t.Context(), report.File, r))(t, "a redacted bundle over a live agent", amber.KindRefused)
	imported := must.Get(w.take(report.File))(t)
	must.Hold(t, imported.Snapshot.ID != meta.ID && imported.Snapshot.Redacted, "imported %+v", imported.Snapshot)
	must.Kind(t, "a redacted snapshot over a live agent", w.tryRestore(imported.Snapshot.ID), amber.KindRefused)
	w.mustBe(live)
	w.restore(imported.Snapshot.ID, func(r *wire.RestoreRequest) { r.AcceptRedacted = true })
	if got := w.all().Notes["now"]; strings.Contains(got, corpus[0].Value) || !strings.Contains(got, "REDACTED") {
		t.Error("the restored note is not the redacted one")
	}
	w.mustVerify(imported.Snapshot.ID)
}

func TestWithoutSecretsARedactedBundleIsTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plant(w)
	w.note("prose", "The password is what nobody tells. See https://example.com/a?b=c#d\n\ttabs\r\nand lines\n")
	before := w.all()
	meta := w.snapshot()
	a, b := entries(t, w.export(meta.ID, exact).File), entries(t, w.export(meta.ID).File)
	for name, bytes := range a {
		if strings.HasPrefix(name, "notes/") || strings.HasPrefix(name, "state/") {
			must.Equal(t, name, string(bytes), string(b[name]))
		}
	}
	other := newWorld(t)
	report := w.export(meta.ID)
	must.Equal(t, "matches", report.Redactions.Matches, 0)
	r := wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{Tenant: "default"}, AcceptRedacted: true}
	must.Get(other.engine.RestoreBundle(t.Context(), report.File, r))(t)
	got := other.all()
	got.Log = before.Log // a redacted bundle has no history
	must.Equal(t, "the agent", got, before)
}

func TestABundleOfAnotherTenantIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("mine")
	report := w.export(w.snapshot().ID, exact)
	other := newWorld(t)
	other.remember("theirs")
	was := other.all()
	for what, err := range map[string]error{
		"import":  must.Err(other.engine.Import(t.Context(), wire.ImportRequest{Tenant: "acme", File: report.File})),
		"restore": must.Err(other.engine.RestoreBundle(t.Context(), report.File, wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{Tenant: "acme"}})),
	} {
		must.Kind(t, what+" to another tenant", err, amber.KindCrossTenant)
	}
	_, err := other.engine.RestoreBundle(t.Context(), report.File, wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{Tenant: "default", Agent: "eve"}})
	must.Kind(t, "restore to another agent", err, amber.KindCrossTenant)
	other.mustBe(was)
	if _, err := os.Stat(filepath.Join(other.dir, "tenants", "acme")); !os.IsNotExist(err) {
		t.Errorf("something was made for the other tenant: %v", err)
	}
	other.nothingLeft()
}

func TestPolicyDecidesWhoseBundlesAreTaken(t *testing.T) {
	t.Parallel()
	w, meta := frozen(t, "mine")
	signed := w.export(meta.ID, exact)
	unsigned := w.export(meta.ID, exact, func(r *wire.ExportRequest) { r.NoSign = true })
	strict := newWorld(t, func(o *snapshot.Options) { o.Keys.RequireSigned = true })
	must.Fail(strict.take(unsigned.File))(t, "unsigned", amber.KindRefused)
	must.Fail(strict.take(signed.File))(t, "a stranger's", amber.KindRefused)
	key := sign.KeyID(signed.SignedBy)
	must.Do(t, os.MkdirAll(filepath.Join(strict.dir, "keys"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(strict.dir, "keys", "trusted"), []byte(string(key)+" a friend\n"), 0o600))
	must.Get(strict.take(signed.File))(t)
	must.Fail(strict.take(unsigned.File))(t, "unsigned", amber.KindRefused)
}

func TestExportRefusesToReplaceAFile(t *testing.T) {
	t.Parallel()
	w, meta := frozen(t, "x")
	report := w.export(meta.ID)
	_, err := w.engine.Export(t.Context(), wire.ExportRequest{SnapshotRef: ref(meta.ID), File: report.File})
	must.Kind(t, "export", err, amber.KindConflict)
}
