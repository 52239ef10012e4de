package snapshot_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// person is a recipient with an age identity in a file.
type person struct{ recipient, file string }

func newPerson(t *testing.T) person {
	t.Helper()
	id := must.Get(age.GenerateX25519Identity())(t)
	file := filepath.Join(t.TempDir(), "identity.txt")
	must.Do(t, os.WriteFile(file, []byte(id.String()+"\n"), 0o600))
	return person{id.Recipient().String(), file}
}

// markers are words that lie nowhere but in the agent.
var markers = []string{"quokkamarker", "zygomorphicmarker", "brobdingnagmarker", "sesquimarker", "labelmarker", "pathmarker"}

// plant puts every marker somewhere in the agent.
func plant(w *world) {
	w.t.Helper()
	w.remember("a memory with the word " + markers[0])
	w.note("first", "once it said "+markers[1]+"\n")
	w.note("first", "now it says nothing\n")
	w.note(markers[5], "a note\n")
	w.state("extract_cursor", `{"at":"`+markers[2]+`"}`)
	turn := amber.Turn{SessionID: "s1", Role: amber.RoleUser, Content: "a turn with " + markers[3]}
	must.Get(w.store.AppendTurn(w.t.Context(), turn))(w.t)
}

// searched looks for the markers in every file outside the live agent, and
// returns how many files it read.
func searched(t *testing.T, w *world) (files int) {
	t.Helper()
	must.Do(t, filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == w.gen() || path == w.agent.SpoolDir() {
			return fs.SkipDir
		}
		for _, m := range markers {
			must.Hold(t, !strings.Contains(path, m), "the name %s tells %s", path, m)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		files++
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range markers {
			must.Hold(t, !bytes.Contains(bytes.ToLower(b), []byte(m)), "%s holds %s", path, m)
		}
		if info, err := d.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	}))
	return files
}

func TestNoWordOfAnEncryptedAgentIsOnDisk(t *testing.T) {
	t.Parallel()
	ann := newPerson(t)
	w := newWorld(t, func(o *snapshot.Options) { o.Keys.Recipients = []string{ann.recipient} })
	plant(w)
	before := w.all()
	meta := w.snapshot(labeled("a " + markers[4]))
	must.Hold(t, meta.Encrypted && meta.Label == "a "+markers[4] && meta.GitOID != "", "the snapshot is %+v", meta)
	searched(t, w)
	w.remember("later")
	report := w.restore(meta.ID)
	w.mustBe(before)
	must.Get(w.engine.BeforeConsolidation(t.Context(), "default", "default", "run"))(t)
	later := func() time.Time { return time.Now().Add(time.Hour) }
	schedule := snapshot.Schedule{Taker: w.engine, Roster: w.home, Clock: later, When: func() string { return "15m" }}
	if report, err := schedule.Tick(t.Context()); err != nil || len(report.Taken) != 1 {
		t.Fatalf("scheduled: %+v, %v", report, err)
	}
	exported := must.Get(w.engine.Export(t.Context(), wire.ExportRequest{SnapshotRef: ref(meta.ID), NoRedact: true}))(t)
	must.Equal(t, "the bundle is encrypted", exported.Encrypted, true)
	if n := searched(t, w); n < 8 {
		t.Errorf("only %d files were searched", n)
	}
	all := w.list()
	if len(all) != 4 {
		t.Fatalf("there are %d snapshots, want 4", len(all))
	}
	for _, m := range all {
		if !m.Encrypted || m.SignedBy == "" {
			t.Errorf("snapshot %q is encrypted: %v, signed by %q", m.Label, m.Encrypted, m.SignedBy)
		}
		w.mustVerify(m.ID)
	}
	must.Equal(t, "the label", all[3].Label, "a "+markers[4])
	w.mustVerify(report.SafetySnapshot)
	w.mustCheck()
	w.gc()
	w.mustVerify(meta.ID)
}

// With another home's keys nothing can be read, and what can be checked without
// a key is.
func TestAnEncryptedRepositoryIsCheckedWithoutTheKey(t *testing.T) {
	t.Parallel()
	ann := newPerson(t)
	root := filepath.Join(t.TempDir(), "repo")
	encrypted := func(o *snapshot.Options) { o.Root, o.Keys.Recipients = root, []string{ann.recipient} }
	w := newWorld(t, encrypted)
	plant(w)
	meta := w.snapshot(labeled("mine"))
	stranger := newWorld(t, func(o *snapshot.Options) { o.Root = root })
	if all := stranger.list(); len(all) != 1 || all[0].Label != "" || all[0].GitOID != "" {
		t.Errorf("the listing is %+v", all)
	}
	report := stranger.verify(meta.ID)
	if !report.OK() || report.Signature.Status != sign.SignatureValid || report.Signature.Standing != sign.StandingStranger {
		t.Errorf("the report is %+v", report)
	}
	for _, c := range report.Checked {
		for _, inside := range []string{"pages", "files", "objects", "memory.db"} {
			must.Hold(t, !strings.Contains(c, inside), "%q is called checked without a key", c)
		}
	}
	must.Hold(t, len(report.NotChecked) >= 4, "not checked: %q", report.NotChecked)
	if check := stranger.mustCheck(); len(check.NotChecked) == 0 {
		t.Errorf("the check says %+v", check)
	}
	for what, err := range map[string]error{
		"restore":  stranger.tryRestore(meta.ID, asNew("copy")),
		"show":     must.Err(stranger.engine.ShowSnapshot(t.Context(), ref(meta.ID))),
		"snapshot": must.Err(stranger.trySnapshot()),
		"gc":       must.Err(stranger.engine.CollectGarbage(t.Context(), wire.GCRequest{Tenant: "default"})),
	} {
		must.Kind(t, what+" without the key", err, amber.KindRefused)
	}
	// The one it is encrypted to can read it on any machine.
	friend := newWorld(t, func(o *snapshot.Options) { o.Root, o.Keys.Identities = root, []string{ann.file} })
	friend.restore(meta.ID, asNew("copy"))
}

func TestRecipientsComeAndGo(t *testing.T) {
	t.Parallel()
	ann, ben := newPerson(t), newPerson(t)
	root := filepath.Join(t.TempDir(), "repo")
	w := newWorld(t, func(o *snapshot.Options) { o.Root, o.Keys.Recipients = root, []string{ann.recipient, ben.recipient} })
	plant(w)
	first := w.snapshot()
	as := func(p person) *world {
		return newWorld(t, func(o *snapshot.Options) { o.Root, o.Keys.Identities = root, []string{p.file} })
	}
	can := func(p person, id amber.SnapshotID) bool {
		_, err := as(p).engine.ShowSnapshot(t.Context(), ref(id))
		if err != nil && amber.KindOf(err) != amber.KindRefused {
			t.Errorf("kind %v: %v", amber.KindOf(err), err)
		}
		return err == nil
	}
	must.Hold(t, can(ann, first.ID) && can(ben, first.ID), "a recipient cannot read")
	// A configured recipient is added again, so it is removed from the
	// configuration first.
	w = openWorld(t, w.dir, func(o *snapshot.Options) { o.Root, o.Keys.Recipients = root, []string{ann.recipient} })
	must.Get(w.engine.ChangeRecipients(t.Context(), "default", nil, []string{ben.recipient}, true))(t)
	w.remember("after ben")
	later := w.snapshot()
	must.Hold(t, !can(ben, first.ID) && !can(ben, later.ID), "who was removed opens the repository")
	must.Hold(t, can(ann, first.ID) && can(ann, later.ID), "who stayed does not open it")
	w.mustCheck()
	w.mustVerify(first.ID)
	w.mustVerify(later.ID)
	own, err := w.engine.Recipients(t.Context(), "default")
	if err != nil || len(own) != 2 { // ann, and this home
		t.Errorf("recipients are %q, %v", own, err)
	}
	if _, err := w.engine.ChangeRecipients(t.Context(), "default", nil, own, false); amber.KindOf(err) != amber.KindInvalid && amber.KindOf(err) != amber.KindRefused {
		t.Errorf("shutting everybody out: %v", err)
	}
}

// A repository that was not encrypted becomes one that is, and nothing in it is
// shared between the two.
func TestARepositoryBecomesEncrypted(t *testing.T) {
	t.Parallel()
	ann := newPerson(t)
	w := newWorld(t)
	plant(w)
	plain := w.snapshot()
	w = openWorld(t, w.dir, func(o *snapshot.Options) { o.Keys.Recipients = []string{ann.recipient} })
	sealed := w.snapshot()
	if !sealed.Encrypted || sealed.BytesNew < plain.BytesNew/2 {
		t.Errorf("encrypted %v with %d new bytes; the plain one has %d", sealed.Encrypted, sealed.BytesNew, plain.BytesNew)
	}
	must.Do(t, w.engine.DeleteSnapshot(t.Context(), ref(plain.ID)))
	hasty := openWorld(t, w.dir, func(o *snapshot.Options) { o.Grace = 1 })
	hasty.gc()
	hasty.gc()
	w = openWorld(t, w.dir) // without any recipient configured
	w.mustVerify(sealed.ID)
	w.mustCheck()
	must.Hold(t, w.snapshot().Encrypted, "without a configured recipient the repository is written to in the clear")
	searched(t, w)
}
