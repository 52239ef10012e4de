package web_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// nasty is a text that would do harm where it is not escaped, and nastySeen a part of it that readers see.
const (
	nasty     = "<script>alert(1)</script><img src=x onerror=alert(1)>\" hx-get=\"/evil\" {{.}} \u202e\u200b"
	nastySeen = "<script>alert(1)</script>"
)

// harmless fails the test where a stored text became part of the page.
func (p page) harmless(t testing.TB) {
	t.Helper()
	p.lacks(t, "<script>alert", "<img src=x", "\u202e", "\u200b", ` hx-get="/evil"`)
	for n := range p.all("script") {
		if attribute(n, "src") == "" {
			t.Errorf("the page has a script of its own")
		}
	}
	ids := map[string]bool{}
	for n := range p.root.Descendants() {
		if id := attribute(n, "id"); id != "" {
			if ids[id] {
				t.Errorf("the page has the id %q twice", id)
			}
			ids[id] = true
		}
		if attribute(n, "style") != "" {
			t.Errorf("the page has a style of its own")
		}
	}
}

// disagree makes ada and another writer write two texts of one memory.
func (r *rig) disagree(mine, theirs string) amber.MemoryID {
	r.t.Helper()
	return r.disagreeWith(mine, amber.Memory{Content: theirs, Kind: amber.UserPreference, Tags: []string{"theirs"}})
}

func (r *rig) disagreeWith(mine string, theirs amber.Memory) amber.MemoryID {
	r.t.Helper()
	return r.disagreeAfter(mine, theirs, func(amber.Memory) {})
}

func (r *rig) disagreeAfter(mine string, theirs amber.Memory, before func(amber.Memory)) amber.MemoryID {
	r.t.Helper()
	m := r.remember(mine)
	before(m)
	theirs.ID, theirs.Scope, theirs.Trust, theirs.Revision = m.ID, m.Scope, amber.TrustOwn, 1
	theirs.Origin = amber.Origin{Device: "device-of-bob", Counter: 1, Clock: amber.StampAt(time.Now().Add(-time.Hour))}
	theirs.CreatedAt, theirs.UpdatedAt = amber.At(time.Now().Add(-time.Hour)), amber.At(time.Now().Add(-time.Hour))
	theirs.ContentDigest = amber.ContentDigest(theirs.Content)
	if theirs.Tags == nil {
		theirs.Tags = []string{}
	}
	theirs.Metadata, theirs.SourceRefs = map[string]string{}, []amber.SourceRef{}
	store := r.store("acme", "ada")
	must.Get(store.Sync.Apply(r.t.Context(), amber.Incoming{
		Place: "/src/tree/.amber", Chunk: string(m.ID), Device: "device-of-bob", At: amber.At(time.Now()), Trust: amber.TrustImported,
		Records: []amber.SyncRecord{{Memory: &amber.SyncMemory{Memory: theirs}}},
	}))(r.t)
	must.Equal(r.t, "conflicts", must.Get(store.Sync.SyncReport(r.t.Context(), ""))(r.t).ConflictCount > 0, true)
	return m.ID
}

func TestConflictsAreSettledByOneEdit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		choose func(p page) []string
		want   string
	}{
		"what every place shows": {func(p page) []string { return []string{"keep", p.choice("Keep A")} }, "mine\nis it"},
		"the other":              {func(p page) []string { return []string{"keep", p.choice("Keep B")} }, "theirs\nis it"},
		"both":                   {func(page) []string { return []string{"keep", "joined", "title", "T", "text", "one\r\nof two"} }, "one\nof two"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			id := r.disagree("mine\nis it", "theirs\nis it")
			b := r.visitor("")
			b.get("conflicts").shows(t, "1 memory was changed at two places", "mine is it", "theirs is it", "device-of-bob")
			p := b.get("conflicts/" + string(id))
			p.shows(t, "shown everywhere now", "device-of-bob", "Its clock", "From A to B", "+ theirs", "− mine", "Edit both")
			p.harmless(t)
			at := "conflicts/" + string(id)
			b.post(at, append([]string{"seen", p.value("seen")}, c.choose(p)...)...).leads(t, adaHome+"/conflicts?settled=1")
			m := must.Get(r.store("acme", "ada").Memories.Get(t.Context(), id))(t)
			must.Equal(t, "content", m.Content, c.want)
			if name == "the other" {
				must.Equal(t, "tags", m.Tags, []string{"theirs"})
				must.Equal(t, "kind", m.Kind, amber.UserPreference)
			}
			b.get("conflicts?settled=1").shows(t, "The conflict is settled", "Nothing to settle")
			must.Equal(t, "a conflict that is settled", b.get(at).status, http.StatusNotFound)
		})
	}
}

// choice is the version that a button keeps.
func (p page) choice(button string) string {
	for n := range p.all("form") {
		if strings.Contains(nodeText(n), button) {
			for d := range n.Descendants() {
				if attribute(d, "name") == "keep" {
					return attribute(d, "value")
				}
			}
		}
	}
	return ""
}

func TestAConflictThatChangedIsShownAgainWithWhatWasTyped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.disagree("mine", "theirs")
	b := r.visitor("")
	at := "conflicts/" + string(id)
	seen := b.get(at).value("seen")
	r.disagreeWith("another", amber.Memory{Content: "beside it"})
	p := b.post(at, "seen", seen+"x", "keep", "joined", "title", "My title", "text", "what I typed")
	must.Equal(t, "status", p.status, http.StatusOK)
	p.shows(t, "The memory was changed since this screen was drawn", "what I typed")
	must.Equal(t, "title", p.value("title"), "My title")
	p = b.post(at, "seen", seen, "keep", "nonsense", "text", "what I typed")
	p.shows(t, "the form chooses no version", "what I typed")
	p = b.post(at, "seen", seen, "keep", "joined", "text", "")
	must.Equal(t, "an empty text", p.status, http.StatusOK)
	must.Equal(t, "conflicts", must.Get(r.store("acme", "ada").Sync.SyncReport(t.Context(), ""))(t).ConflictCount, 2)
}

func TestAMemoryThatWasDeletedAtOnePlaceIsSettled(t *testing.T) {
	t.Parallel()
	for button, want := range map[string]amber.Kind{"Delete it everywhere": amber.KindNotFound, "Keep B": ""} {
		r := newRig(t)
		id := r.disagreeAfter("mine", amber.Memory{Content: "theirs", Kind: amber.WorkspaceFact}, func(m amber.Memory) {
			must.Do(t, r.store("acme", "ada").LongTerm.Delete(t.Context(), m.ID))
		})
		b := r.visitor("")
		p := b.get("conflicts/" + string(id))
		p.shows(t, "The memory was deleted there", "Delete it everywhere", "Keep B")
		b.post("conflicts/"+string(id), "seen", p.value("seen"), "keep", p.choice(button), "word", "delete").leads(t, adaHome+"/conflicts?settled=1")
		_, err := r.store("acme", "ada").Memories.Get(t.Context(), id)
		must.Equal(t, button, amber.KindOf(err), want)
		b.get("conflicts").shows(t, "Nothing to settle")
	}
}

func TestConflictsWithoutWriteAreOnlyShown(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	id := r.disagree(nasty+" mine", nasty+" theirs")
	b := r.visitor(adaRead)
	p := b.get("conflicts/" + string(id))
	p.shows(t, nastySeen)
	p.harmless(t)
	must.Equal(t, "forms", p.has(adaHome+"/conflicts/"+string(id)), false)
	seen := r.visitor(root).get("conflicts/" + string(id)).value("seen")
	must.Equal(t, "status", b.post("conflicts/"+string(id), "seen", seen, "keep", "joined", "text", "x").status, http.StatusForbidden)
	p = b.get("conflicts")
	p.shows(t, nastySeen)
	p.harmless(t)
	must.Equal(t, "of another agent", r.visitor(eve).get("conflicts").status, http.StatusNotFound)
}

func TestLongConflictsStaySmall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.disagree(strings.Repeat("a long line of mine\n", 2000), strings.Repeat("a long line of theirs\n", 2000))
	p := r.visitor("").get("conflicts/" + string(id))
	p.shows(t, "The first part of", "too long for a field")
	if len(p.body) > 100_000 {
		t.Errorf("the page has %d bytes", len(p.body))
	}
}

// setAside puts an entry of ada's journal into quarantine.
func (r *rig) setAside(session, payload, reason string, n int) journal.Session {
	r.t.Helper()
	r.agent("acme", "ada") // so that the folder is there
	j := must.Get(journal.Open(filepath.Join(r.home, "tenants", "acme", "agents", "ada", "spool"), journal.Options{Clock: time.Now}))(r.t)
	s := journal.Session{Host: "generic", ID: amber.SessionID(session)}
	for i := range n {
		must.Get(j.Append(r.t.Context(), s, journal.Entry{Payload: []byte(payload)}))(r.t)
		must.Do(r.t, j.Quarantine(r.t.Context(), s.Key(), int64(i+1), []byte(payload), reason))
	}
	return s
}

func TestQuarantineShowsAndTriesAgain(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	b := r.visitor(ada)
	b.get("quarantine").shows(t, "Nothing was set aside", "Every chunk that others shared was taken")
	s := r.setAside("s1", nasty, "no such tool "+nasty, 2)
	r.setAside("s2", "other", "broken", 1)
	must.Do(t, r.store("acme", "ada").Sync.SetQuarantine(t.Context(), "/tree", []amber.QuarantinedChunk{{ID: "c0ffee", Reason: "bad signature " + nasty, Kind: amber.KindDamaged}}))
	p := b.get("quarantine")
	must.Equal(t, "the tenant is told places of the server", strings.Contains(p.text(), "no such tool"), false)
	p.harmless(t)
	b = r.visitor(root)
	p = b.get("quarantine")
	p.shows(t, "3 files that could not be stored", "s1", "no such tool", "Try again", "Try all of this session again", "c0ffee", "bad signature", "1 chunk was not taken")
	p.harmless(t)
	var link string
	for n := range p.all("a") {
		if strings.Contains(attribute(n, "href"), "/quarantine/"+string(s.Key())+"/") {
			link = attribute(n, "href")
		}
	}
	p = b.get(link)
	p.shows(t, nastySeen, "no such tool", "Set aside", "Try this one again")
	p.harmless(t)
	b.post("quarantine/retry", "session", p.value("session"), "name", p.value("name")).leads(t, adaHome+"/quarantine?again=1")
	b.get("quarantine?again=1").shows(t, "1 entry was put back", "2 files")
	b.post("quarantine/retry", "session", string(s.Key())).leads(t, adaHome+"/quarantine?again=1")
	b.get("quarantine").shows(t, "1 file that could not be stored")
	b.post("quarantine/retry").leads(t, adaHome+"/quarantine?again=1")

	reader := r.visitor(adaRead)
	must.Equal(t, "a button without its scope", reader.get("quarantine").has(adaHome+"/quarantine/retry"), false)
	must.Equal(t, "status", reader.post("quarantine/retry").status, http.StatusForbidden)
	must.Equal(t, "an entry that is not there", b.get("quarantine/"+string(s.Key())+"/nothing").status, http.StatusNotFound)
}

func TestMuchInQuarantineComesInPages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var chunks []amber.QuarantinedChunk
	for i := range 120 {
		chunks = append(chunks, amber.QuarantinedChunk{ID: fmt.Sprintf("chunk-%03d", i), Reason: strings.Repeat("long ", 400), Kind: amber.KindDamaged})
	}
	must.Do(t, r.store("acme", "ada").Sync.SetQuarantine(t.Context(), "/tree", chunks))
	b := r.visitor("")
	p := b.get("quarantine")
	p.shows(t, "120 chunks were not taken", "chunk-000", "chunk-049", "More chunks")
	p.lacks(t, "chunk-050")
	if len(p.body) > 100_000 {
		t.Errorf("the page has %d bytes", len(p.body))
	}
	b.get("quarantine?chunks=100").shows(t, "chunk-100", "chunk-119")
}

func TestAnEntryThatIsShownInPartSaysSo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.setAside("s1", strings.Repeat("\u202e", 1000)+"the end", "no such tool", 1) // short, and long in the page
	p := r.visitor("").get("quarantine/" + string(s.Key()) + "/00000000000000000001.entry")
	p.lacks(t, "the end")
	p.shows(t, "The first part of 3.0 kB")
	p.harmless(t)
}
