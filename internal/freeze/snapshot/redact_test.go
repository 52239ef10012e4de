package snapshot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// Each part of an agent gives one of these secrets away by its context. All parts also contain all
// secrets without any context. The secrets are made up for this test.
var (
	inMemory  = "Xk9-Tr0ub4dor"
	inControl = "Wq7_Lighth0use"
	inNote    = "Zr3-Harb0urside"
	inState   = "Vm5-Sch00ner"
	inJournal = "Yp8-C0mpassRose"
	inLabel   = "Ub6-Anch0rage"
	inName    = "Nd2-F0recastle"
	everyone  = []string{inMemory, inControl, inNote, inState, inJournal, inLabel, inName}
)

// telling is a text that gives a password away.
func telling(secret string) string { return "export DB_PASSWORD=" + secret + "\n" }

// hostEvent appends what a host says to the journal of a session.
func (w *world) hostEvent(s journal.Session, n int, text string) {
	w.t.Helper()
	j := must.Get(journal.Open(w.agent.SpoolDir(), journal.Options{Clock: time.Now}))(w.t)
	b := must.Get(json.Marshal(journal.HostEvent{
		Schema: journal.HostEventSchema, EventID: fmt.Sprintf("%032x", n), Native: true, Host: s.Host, SessionID: s.ID,
		Kind: journal.HostPrompt, ObservedAt: amber.At(time.Now()), Prompt: text,
	}))(w.t)
	must.Get(j.Append(w.t.Context(), s, journal.Entry{Payload: b}))(w.t)
}

// spread makes an agent each part of which gives one secret away and holds
// all of them bare.
func spread(w *world) amber.SnapshotID {
	w.t.Helper()
	bare := strings.Join(everyone, " or ")
	w.remember(telling(inMemory))
	w.remember("bare: " + bare)
	for id, goal := range map[string]string{"t1": telling(inControl), "t2": bare} {
		must.Get(w.store.SaveTask(w.t.Context(), amber.Task{ID: id, Goal: goal, State: amber.TaskQueued}, 0))(w.t)
	}
	w.note("telling", telling(inNote))
	w.note("bare", bare+"\n")
	w.state("about DB_PASSWORD="+inName, `{}`)
	w.state("extract_cursor", `{"PASSWORD":"`+inState+`","bare":"`+bare+`","\u0058k9-Tr0ub4dor":1}`)
	w.hostEvent(journal.Session{Host: "claude-code", ID: "s-1"}, 1, telling(inJournal))
	w.hostEvent(journal.Session{Host: "claude-code", ID: "s-1"}, 2, bare)
	w.put("about DB_PASSWORD="+inName+"/file.md", "x\n", 0o600)
	units := utf16.Encode([]rune("\ufeff" + bare))
	wide := make([]byte, 0, 2*len(units))
	for _, u := range units {
		wide = append(wide, byte(u), byte(u>>8))
	}
	w.put("wide.md", string(wide), 0o600)
	w.put("packed.bin", "\x00\x01"+bare, 0o600)
	meta := must.Get(w.engine.SnapshotOfBefore(w.t.Context(), wire.SnapshotRequest{
		Tenant: "default", Agent: "default", Label: "DB_PASSWORD=" + inLabel + " and " + inMemory,
	}))(w.t)
	return meta.ID
}

// mustHoldNone makes sure that a redacted bundle and its report hold no secret.
func mustHoldNone(t *testing.T, report wire.ExportReport, secrets []string) {
	t.Helper()
	said := must.Get(json.Marshal(report))(t)
	all := entries(t, report.File)
	all["the report"] = said
	for name, b := range all {
		if strings.HasSuffix(name, ".bundle") {
			b = append(b, gitObjects(t, b)...)
		}
		low := bytes.ToLower(append([]byte(name+"\n"), b...))
		narrow := bytes.ReplaceAll(low, []byte{0}, nil) // as UTF-16 reads
		for _, s := range secrets {
			if want := bytes.ToLower([]byte(s)); bytes.Contains(low, want) || bytes.Contains(narrow, want) {
				t.Errorf("%s of %s holds %s", name, report.Format, s)
			}
		}
	}
}

// One part gives a secret away by its context. The export removes that secret from all other parts,
// too, where no context gives it away.
func TestRedactedBundleHoldsNoSecretOfAnotherPart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := spread(w)
	for _, format := range []func(*wire.ExportRequest){func(*wire.ExportRequest) {}, nexo} {
		report := w.export(id, format)
		mustHoldNone(t, report, everyone)
		var rules int64
		for _, r := range report.Redactions.Rules {
			rules += r.Count
		}
		var places int64
		for _, p := range report.Redactions.Places {
			places += p.Count
		}
		if rules != report.Redactions.Matches || places != rules {
			t.Errorf("%d matches, %d by rule, %d by place: %+v", report.Redactions.Matches, rules, places, report.Redactions)
		}
		at := slices.IndexFunc(report.Redactions.Places, func(p wire.RedactionPlace) bool { return p.Path == "bare.md" })
		if at < 0 || report.Redactions.Places[at].Count != int64(len(everyone)) {
			t.Errorf("the note is not told: %+v", report.Redactions.Places)
		}
		if !slices.ContainsFunc(report.Redactions.Notes, func(n string) bool { return strings.Contains(n, "packed.bin") }) {
			t.Errorf("the binary note is not told: %q", report.Redactions.Notes)
		}
	}
	w.nothingLeft()
}

// A folder with a secret in its name is left out with all that is in it.
func TestRedactedBundleHoldsNoSecretNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.note("telling", telling(inMemory))
	for _, dir := range []string{"about " + inMemory, "holds/" + inMemory + "/below", "with DB_PASSWORD=" + inName} {
		must.Do(t, os.MkdirAll(filepath.Join(w.gen(), "memdir", dir), 0o700))
	}
	w.put("full "+inMemory+"/a.md", "a\n", 0o600)
	w.put("full "+inMemory+"/b/c.md", "c\n", 0o600)
	w.put("clean/d.md", "d\n", 0o600)
	id := w.snapshot().ID
	report := w.export(id)
	mustHoldNone(t, report, []string{inMemory, inName})
	var left []string
	for _, s := range report.LeftOut {
		left = append(left, s.Part+" "+s.Path+" "+s.Reason)
	}
	const marker = "[REDACTED:env-assignment]"
	want := []string{
		"notes about " + marker + " bad_name", "notes full " + marker + " bad_name",
		"notes holds/" + marker + " bad_name", "notes with DB_PASSWORD=" + marker + " bad_name",
	}
	must.Equal(t, "left out", left, want)
	all := entries(t, report.File)
	if _, ok := all["notes/holds/"]; !ok || all["notes/clean/d.md"] == nil {
		t.Error("what holds no secret is left out too")
	}
}

// A session whose id is a secret is left out with its entries.
func TestRedactedBundleHoldsNoSecretMarks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember(telling(inMemory))
	w.hostEvent(journal.Session{Host: "claude-code", ID: amber.SessionID("of " + inMemory)}, 1, "a prompt")
	w.hostEvent(journal.Session{Host: "claude-code", ID: amber.SessionID("DB_PASSWORD=" + inJournal)}, 2, "a prompt")
	w.hostEvent(journal.Session{Host: "claude-code", ID: "s-1"}, 3, "a prompt")
	report := w.export(w.snapshot().ID)
	mustHoldNone(t, report, []string{inMemory, inJournal})
	left, kept := 0, 0
	for _, s := range report.LeftOut {
		if s.Part == "journal" && s.Reason == wire.SkipBadName {
			left++
		}
	}
	for name := range entries(t, report.File) {
		if strings.HasPrefix(name, "journal/") {
			kept++
		}
	}
	must.Hold(t, left == 2 && kept == 1, "%d sessions are left out and %d are there, want 2 and 1: %+v", left, kept, report.LeftOut)
}

// A redacted bundle has one branch of ours, whatever the notes had.
func TestRedactedBundleHoldsNoRefsOfTheNotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.note("a", "a\n")
	w.git("checkout", "-q", "-b", "about-"+inMemory)
	w.git("tag", "tag-"+inMemory)
	w.git("-c", "user.name="+inMemory, "commit", "-q", "--allow-empty", "-m", inMemory)
	id := w.snapshot().ID
	if exactly := w.export(id, exact); !bytes.Contains(entries(t, exactly.File)["manifest.json"], []byte("tag-"+inMemory)) {
		t.Fatal("the exact bundle lacks the tag")
	}
	for _, format := range []func(*wire.ExportRequest){func(*wire.ExportRequest) {}, nexo} {
		mustHoldNone(t, w.export(id, format), []string{inMemory})
	}
}

// Bundles of one snapshot are equal, byte for byte, and so are their reports.
func TestBundlesOfOneSnapshotAreEqual(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := spread(w)
	unsigned := func(r *wire.ExportRequest) { r.NoSign = true }
	plain := func(*wire.ExportRequest) {}
	for _, format := range []func(*wire.ExportRequest){plain, nexo} {
		for _, redacted := range []func(*wire.ExportRequest){plain, exact} {
			for _, signed := range []func(*wire.ExportRequest){plain, unsigned} {
				var first []byte
				var told []any
				for range 4 {
					report := w.export(id, format, redacted, signed)
					b := must.Get(os.ReadFile(report.File))(t)
					says := []any{report.LeftOut, report.Redactions, report.SignedBy}
					if first == nil {
						first, told = b, says
					}
					if !bytes.Equal(b, first) {
						t.Error("two bundles of one snapshot differ")
						break
					}
					if diff := cmp.Diff(told, says); diff != "" {
						t.Errorf("two reports differ:\n%s", diff)
						break
					}
				}
			}
		}
	}
}

// The manifest of nexo names the entries that were redacted, not the rows.
func TestNexoManifestNamesRedactedEntries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	report := w.export(spread(w), nexo)
	all := entries(t, report.File)
	var m struct {
		Redactions struct {
			Touched []string `json:"artifacts_touched"`
		} `json:"redactions"`
	}
	must.Do(t, json.Unmarshal(all["manifest.json"], &m))
	want := []string{
		"memory_files/bare.md", "memory_files/packed.bin", "memory_files/telling.md", "memory_files/wide.md",
		"sqlite/long_term.sqlite", "state/extract_cursor.json",
	}
	must.Equal(t, "touched", m.Redactions.Touched, want)
	for _, path := range m.Redactions.Touched {
		if _, ok := all[path]; !ok {
			t.Errorf("there is no entry %s", path)
		}
	}
}

// A marker may be longer than the secret that it replaces.
func TestRedactedLabelIsNoLongerThanALabel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	label := strings.Repeat("DB_PASSWORD="+inLabel+" ", 7)
	meta := must.Get(w.engine.SnapshotOfBefore(t.Context(), wire.SnapshotRequest{Tenant: "default", Agent: "default", Label: label}))(t)
	report := w.export(meta.ID)
	if len(report.Label) > wire.MaxLabelBytes || strings.Contains(report.Label, inLabel) || report.Redactions.Matches == 0 {
		t.Errorf("the label is %q", report.Label)
	}
}

// leaky is a file system that puts a secret into a staged file when it is read.
type leaky struct {
	fsx.FS
	staged, secret string
	copy           string // the file with the secret
}

func (l leaky) OpenFile(name string, flag int, perm fs.FileMode) (fsx.File, error) {
	slashed := filepath.ToSlash(name)
	if flag != os.O_RDONLY || !strings.Contains(slashed, "/scratch/") || !strings.Contains(slashed, l.staged) {
		return l.FS.OpenFile(name, flag, perm)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	copy(b[len(b)/2:], l.secret) // its size stays
	if err := os.WriteFile(l.copy, b, 0o600); err != nil {
		return nil, err
	}
	return l.FS.OpenFile(l.copy, flag, perm)
}

// Whatever should go wrong on the way: what holds a secret that is known does
// not leave.
func TestNoRedactedBundleWithWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := spread(w)
	for staged, format := range map[string]wire.BundleFormat{
		"/notes/bare.md": wire.FormatAmber, "/state/extract_cursor.json": wire.FormatAmber, "/journal-": wire.FormatAmber,
		"/notes/telling.md": wire.FormatNexo, "/sqlite/long_term.sqlite": wire.FormatNexo, "/sqlite/concepts.sqlite": wire.FormatNexo,
	} {
		broken := openWorld(t, w.dir, func(o *snapshot.Options) {
			o.FS = leaky{fsx.OS(), staged, strings.ToUpper(inMemory), filepath.Join(t.TempDir(), "copy")}
		})
		dir := t.TempDir()
		_, err := broken.engine.Export(t.Context(), wire.ExportRequest{SnapshotRef: ref(id), File: dir, Format: format})
		if amber.KindOf(err) != amber.KindInternal || strings.Contains(strings.ToLower(fmt.Sprint(err)), strings.ToLower(inMemory)) {
			t.Errorf("a secret in %s: %v, want internal", staged, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("a secret in %s: there is %v, %v", staged, left, err)
		}
	}
	w.nothingLeft()
}
