package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// bring lets a sync bring versions of memories that another device wrote an hour ago.
func (r *rig) bring(device string, contents map[amber.MemoryID]string) {
	r.t.Helper()
	store, then := r.store("acme", "ada"), time.Now().Add(-time.Hour)
	in := amber.Incoming{Place: "/src/tree/.amber", Chunk: "chunk of " + device, Device: device, At: amber.At(time.Now()), Trust: amber.TrustImported}
	for id, content := range contents {
		history := must.Get(amber.All(r.t.Context(), store.Memories.History, id))(r.t)
		m := amber.Memory{ID: id, Content: content, Kind: amber.WorkspaceFact, Scope: history[0].Scope, Trust: amber.TrustOwn, Revision: 1, Tags: []string{}, Metadata: map[string]string{}, SourceRefs: []amber.SourceRef{}}
		m.Origin = amber.Origin{Device: device, Counter: uint64(len(in.Records) + 1), Clock: amber.StampAt(then)}
		m.CreatedAt, m.UpdatedAt, m.ContentDigest = amber.At(then), amber.At(then), amber.ContentDigest(content)
		in.Records = append(in.Records, amber.SyncRecord{Memory: &amber.SyncMemory{Memory: m}})
	}
	must.Get(store.Sync.Apply(r.t.Context(), in))(r.t)
}

// area is the text in a field of several lines, and whether it can only be read.
func (p page) area(id string) (text string, readonly bool) {
	for n := range p.all("textarea") {
		if attribute(n, "id") != id {
			continue
		}
		for _, a := range n.Attr {
			readonly = readonly || a.Key == "readonly"
		}
		if n.FirstChild != nil {
			text = n.FirstChild.Data
		}
		return text, readonly
	}
	return "", false
}

func TestAConflictIsNotSettledOverAVersionThatWasNotShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.disagree("mine", "theirs")
	b := r.visitor("")
	at := "conflicts/" + string(id)
	p := b.get(at)
	seen, mine := p.value("seen"), p.choice("Keep A")
	r.bring("device-of-carol", map[amber.MemoryID]string{id: "what carol wrote"})
	p = b.post(at, "seen", seen, "keep", "joined", "title", "My title", "text", "what I typed")
	must.Equal(t, "status", p.status, http.StatusOK)
	p.shows(t, "The memory was changed since this screen was drawn", "what I typed", "what carol wrote")
	b.post(at, "seen", seen, "keep", mine).shows(t, "The memory was changed since this screen was drawn")
	must.Equal(t, "conflicts", must.Get(r.store("acme", "ada").Sync.SyncReport(t.Context(), ""))(t).ConflictCount, 1)
	b.post(at, "seen", p.value("seen"), "keep", mine).leads(t, adaHome+"/conflicts?settled=1")
}

func TestTheTextForAConflictThatIsSettledMeanwhileIsNotLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.disagree("mine", "theirs")
	b := r.visitor("")
	at := "conflicts/" + string(id)
	seen := b.get(at).value("seen")
	settled := "settled elsewhere"
	must.Get(r.store("acme", "ada").Editor.Edit(t.Context(), amber.EditRequest{ID: id, Content: &settled}))(t)
	p := b.post(at, "seen", seen, "keep", "joined", "title", "My title", "text", "\nwhat I typed <b>\r\nin two lines")
	must.Equal(t, "status", p.status, http.StatusNotFound)
	p.shows(t, "settled meanwhile", "Nothing was saved", "My title")
	text, readonly := p.area("text")
	must.Equal(t, "text", text, "\nwhat I typed <b>\nin two lines")
	must.Equal(t, "the field can only be read", readonly, true)
	must.Equal(t, "a link to the memory", strings.Contains(p.body, adaHome+"/memories/"+string(id)), true)
	must.Equal(t, "content", must.Get(r.store("acme", "ada").Memories.Get(t.Context(), id))(t).Content, settled)
}

func TestDeletingEverywhereTakesAWord(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.disagreeAfter("mine", amber.Memory{Content: "theirs", Kind: amber.WorkspaceFact}, func(m amber.Memory) {
		must.Do(t, r.store("acme", "ada").LongTerm.Delete(t.Context(), m.ID))
	})
	b := r.visitor("")
	at := "conflicts/" + string(id)
	p := b.get(at)
	p.shows(t, "Type delete")
	for _, word := range []string{"", "yes"} {
		p = b.post(at, "seen", p.value("seen"), "keep", p.choice("Delete it everywhere"), "word", word)
		must.Equal(t, "status", p.status, http.StatusOK)
		p.shows(t, "nothing was deleted", "Delete it everywhere")
		p.harmless(t)
	}
	b.post(at, "seen", p.value("seen"), "keep", p.choice("Delete it everywhere"), "word", "delete").leads(t, adaHome+"/conflicts?settled=1")
}

func TestAConflictGoesThroughAFormOnlyAsItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.disagree("\n\nmine begins with empty lines", "theirs")
	text, _ := r.visitor("").get("conflicts/" + string(id)).area("text")
	must.Equal(t, "text", strings.HasPrefix(text, "\n\nmine begins"), true)

	for name, theirs := range map[string]string{"an end of line that a browser changes": "theirs\rof another kind", "a text that takes much of a page": strings.Repeat("<", 12<<10)} {
		id := r.disagree("mine with "+name, theirs)
		p := r.visitor("").get("conflicts/" + string(id))
		text, _ := p.area("text")
		must.Equal(t, name, text, "")
		p.shows(t, "amber edit "+string(id)+" -")
		must.Equal(t, "name of the text", p.value("title"), "")
		if len(p.body) > 100_000 {
			t.Errorf("%s: the page has %d bytes", name, len(p.body))
		}
	}
}

func TestTheListOfConflictsSaysThatThereAreMore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	contents := map[amber.MemoryID]string{}
	for i := range amber.MaxConflicts + 2 {
		contents[r.remember(fmt.Sprintf("mine, the %dth", i)).ID] = fmt.Sprintf("theirs, the %dth", i)
	}
	r.bring("device-of-carol", contents)
	b := r.visitor("")
	p := b.get("conflicts?from=50")
	p.shows(t, "102 memories were changed", "2 more are listed once some of these are settled")
	must.Equal(t, "a link to a page that is not there", strings.Contains(p.text(), " More "), false)
}
