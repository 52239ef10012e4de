package drain_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/proc"
	"github.com/amber-memory/amber/internal/capture/digest"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/internal/recall/policy"
	"github.com/amber-memory/amber/internal/test/must"
)

// known are options with which a worker sees what is stored.
func (w *world) known() drain.Options { return drain.Options{Memories: w.store, Sessions: w.store} }

// in returns the events of another session.
func in(id amber.SessionID, events ...journal.HostEvent) []journal.HostEvent {
	for i := range events {
		events[i].SessionID = id
		events[i].EventID = amber.ContentDigest(string(id) + events[i].EventID)[:32]
	}
	return events
}

// spoke are the events of a session in which the user says something and is answered.
func spoke(said, answered string) []journal.HostEvent {
	return []journal.HostEvent{event(1, journal.HostSessionStart), prompt(2, said), answer(3, answered), event(4, journal.HostSessionEnd)}
}

// everything lists the memories of all scopes as "kind: content xduplicates".
func (w *world) everything() []string {
	w.t.Helper()
	page := must.Get(w.store.List(context.Background(), amber.ListQuery{All: true, Limit: amber.MaxPageSize}))(w.t)
	var out []string
	for _, m := range page.Items {
		if !slices.Contains(m.Tags, "session") {
			out = append(out, fmt.Sprintf("%s: %s x%d", m.Kind, m.Content, m.DuplicateCount))
		}
	}
	slices.Sort(out)
	return out
}

const tabs = "We always indent Makefiles with tabs."

// Items become derived memories of the project that name their session and turn.
func TestItemsBecomeMemories(t *testing.T) {
	t.Parallel()
	w := newWorld(t, spoke("Please write the Makefile of the shop. "+tabs, "Written. The target `make dist` is not finished yet.")...)
	w.once(w.known())
	must.Equal(t, "memories", w.everything(), []string{
		"session_summary: The target `make dist` is not finished yet. x0", "user_preference: " + tabs + " x0",
	})
	m := w.memories(amber.UserPreference)[0]
	turns := must.Get(amber.LastTurns(context.Background(), w.store, one.ID, 10))(t)
	must.Equal(t, "title", m.Title, "Preference: "+tabs)
	must.Equal(t, "sources", m.SourceRefs, []amber.SourceRef{{Kind: "session", Value: "s-1"}, {Kind: "turn", Value: string(turns[0].ID)}})
	must.Equal(t, "metadata", m.Metadata, map[string]string{"digest": "rules", "item": "preference"})
	must.Equal(t, "trust and scope", []string{string(m.Trust), string(m.Scope), m.ProjectID}, []string{"derived", "project", "acme/shop"})
	must.Equal(t, "summary of the session", w.session().Summary,
		"Task: Please write the Makefile of the shop. | Unfinished: The target `make dist` is not finished yet.")
}

// A memory from a session without a project has the scope of that session: no other project sees it.
func TestWithoutAProjectNothingIsGlobal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	events := spoke(tabs+"\nRemember that the shop closes at noon.", "## Key Learnings\n- The oven needs an hour to heat up\n")
	for i := range events {
		events[i].Project = ""
	}
	compacted := event(5, journal.HostCompactAfter)
	compacted.Project, compacted.Message = "", "We spoke of tabs."
	w.keep(append(events[:3:3], compacted, events[3])...)
	w.once(w.known())
	page := must.Get(w.store.List(context.Background(), amber.ListQuery{All: true}))(t)
	if len(page.Items) < 4 {
		t.Errorf("%d memories", len(page.Items))
	}
	for _, m := range page.Items {
		if m.Scope != amber.ScopeSession || m.SessionID != one.ID {
			t.Errorf("%s %q is of scope %s", m.Kind, m.Content, m.Scope)
		}
	}
}

// A memory of what was said in another project of a session is for that project alone.
func TestASessionInTwoProjects(t *testing.T) {
	t.Parallel()
	const wool = "Never wash the wool above 30 degrees."
	w := newWorld(t)
	events := []journal.HostEvent{
		event(1, journal.HostSessionStart), prompt(2, tabs), answer(3, "Noted."), prompt(4, "Now the other one. "+wool), answer(5, "Noted, too."), event(6, journal.HostSessionEnd),
	}
	events[3].Project, events[4].Project = "acme/laundry", "acme/laundry"
	w.keep(events...)
	w.once(w.known())
	list := func(project string) (out []string) {
		page := must.Get(w.store.List(context.Background(), amber.ListQuery{Filter: amber.Filter{Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: project}}}))(t)
		for _, m := range page.Items {
			out = append(out, m.Content)
		}
		slices.Sort(out)
		return out
	}
	shop, laundry := strings.Join(list("acme/shop"), "\n"), strings.Join(list("acme/laundry"), "\n")
	if !strings.Contains(shop, tabs) || strings.Contains(shop, "wool") || strings.Contains(w.session().Summary, "wool") {
		t.Errorf("the shop has\n%s", shop)
	}
	if !strings.Contains(laundry, wool) || strings.Contains(laundry, "indent") {
		t.Errorf("the laundry has\n%s", laundry)
	}
}

// The same item of another session confirms the first; another wording does, too.
func TestTheSameItemConfirms(t *testing.T) {
	t.Parallel()
	w := newWorld(t, spoke(tabs, "Fine, noted.")...)
	w.once(w.known())
	w.keep(in("s-2", spoke("we always indent makefiles with tabs!", "Fine, noted.")...)...)
	w.once(w.known())
	must.Equal(t, "memories", w.everything(), []string{"user_preference: " + tabs + " x1"})
	w.once(w.known())
	must.Equal(t, "memories after one more drain", w.everything(), []string{"user_preference: " + tabs + " x1"})
}

// A compaction, an end, a session that comes back and ends again: each item once.
func TestADigestIsWrittenAgainWithoutDoubling(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]func(w *world) drain.Options{
		"knowing": (*world).known, "blind": func(*world) drain.Options { return drain.Options{} },
	} {
		w := newWorld(t, event(1, journal.HostSessionStart), prompt(2, tabs), answer(3, "Noted."), event(4, journal.HostCompactBefore))
		w.once(o(w))
		want := []string{"user_preference: " + tabs + " x0"}
		must.Equal(t, name+": after a compaction", w.everything(), want)
		w.keep(event(5, journal.HostSessionEnd))
		w.once(o(w))
		must.Equal(t, name+": after the end", w.everything(), want)
		w.keep(prompt(6, "ok"), event(7, journal.HostSessionEnd))
		w.once(o(w))
		must.Equal(t, name+": after the second end", w.everything(), want)
		must.Equal(t, name+": digests", len(w.digests()), 1)
		must.Equal(t, name+": duplicates of the digest", w.digests()[0].DuplicateCount, 0)
	}
}

// The same session does not bring back an item that a person has deleted since.
func TestADeletedItemStaysDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, event(1, journal.HostSessionStart), prompt(2, tabs), answer(3, "Noted."), event(4, journal.HostCompactBefore))
	w.once(w.known())
	must.Do(t, w.store.Delete(context.Background(), w.memories(amber.UserPreference)[0].ID))
	w.keep(event(5, journal.HostSessionEnd))
	w.once(w.known())
	must.Equal(t, "memories", w.everything(), []string(nil))
}

// relationsOf lists the relations of a memory as types with the content they lead to.
func (w *world) relationsOf(m amber.Memory) (out []string) {
	w.t.Helper()
	for _, r := range must.Get(w.store.Related(context.Background(), m.ID))(w.t) {
		if r.From == m.ID {
			out = append(out, r.Type+" "+must.Get(w.store.Get(context.Background(), r.To))(w.t).Content)
		}
	}
	return out
}

// A newer item that contradicts an older one supersedes it, and going back does again.
func TestAContradictionSupersedes(t *testing.T) {
	t.Parallel()
	const npm, yarn = "Always use npm to install packages.", "From now on use yarn to install packages."
	w := newWorld(t, spoke(npm, "Fine, noted.")...)
	w.once(w.known())
	w.keep(in("s-2", spoke(yarn, "Fine, noted.")...)...)
	w.once(w.known())
	find := func(title string) amber.Memory {
		for _, k := range []amber.MemoryKind{amber.Constraint, amber.UserPreference} {
			for _, m := range w.memories(k) {
				if strings.HasSuffix(m.Title, title) {
					return m
				}
			}
		}
		t.Fatalf("no memory %q in %q", title, w.everything())
		return amber.Memory{}
	}
	must.Equal(t, "what yarn does", w.relationsOf(find(yarn)), []string{"supersedes " + npm})
	w.keep(in("s-3", spoke(npm, "Fine, noted.")...)...)
	w.once(w.known())
	must.Equal(t, "what npm does now", w.relationsOf(find("Again: Preference: "+npm)), []string{"supersedes " + yarn})
	// A memory that the user wrote is not superseded by what a rule has found.
	w = newWorld(t, spoke(yarn, "Fine, noted.")...)
	own := must.Get(w.store.Write(context.Background(), amber.WriteRequest{Kind: amber.UserPreference, Content: npm, Identities: amber.Identities{ProjectID: "acme/shop"}, Scope: amber.ScopeProject}))(t)
	w.once(w.known())
	must.Equal(t, "relations of an own memory", len(must.Get(w.store.Related(context.Background(), own.ID))(t)), 0)
}

// A session that died is digested as one that ended, with its folder and project.
func TestADeadSessionIsDigested(t *testing.T) {
	t.Parallel()
	edit := event(3, journal.HostToolAfter)
	edit.Tool, edit.Files = &journal.HostTool{Name: "Edit"}, []journal.HostFile{{Path: "/src/shop/Makefile", Action: journal.FileModified}}
	w := newWorld(t, event(1, journal.HostSessionStart), prompt(2, tabs), edit)
	o := w.known()
	o.Grace, o.Alive = -1, func(amber.HostProcess) proc.Liveness { return proc.Dead }
	must.Equal(t, "ended", len(w.once(o).Ended), 1)
	must.Equal(t, "memories", w.everything(), []string{"user_preference: " + tabs + " x0"})
	if d := w.digests(); len(d) != 1 || !strings.Contains(d[0].Content, "- Makefile\n") {
		t.Errorf("%+v", d)
	}
}

// A policy without digests keeps what was said out of the catalogue, too.
func TestWithoutDigestsTheSummaryCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, spoke(tabs, "Fine, noted.")...)
	w.once(drain.Options{Policy: policy.Conservative{NoDigests: true}, Memories: w.store})
	must.Equal(t, "memories", w.everything(), []string(nil))
	must.Equal(t, "summary", w.session().Summary, "1 prompt")
}

// A store that fails while a digest is stored gets it once when it works again.
func TestADigestIsStoredOnceAfterAFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, spoke(tabs, "Fine, noted.")...)
	sick := &stubborn{Store: w.store, fail: func(in amber.Ingestion) error {
		if slices.ContainsFunc(in.Steps, func(s amber.IngestStep) bool { return s.End != nil }) {
			return amber.Errorf(amber.KindBusy, "ingest", "", "the disk is asleep")
		}
		return nil
	}}
	o := w.known()
	o.Store = sick
	for range 2 {
		if report, err := w.worker(o).Once(context.Background()); err != nil || report.Err() == nil {
			t.Fatal(report, err)
		}
	}
	must.Equal(t, "memories before", w.everything(), []string(nil))
	w.once(w.known())
	w.once(w.known())
	must.Equal(t, "memories", w.everything(), []string{"user_preference: " + tabs + " x0"})
}

// dying is a journal whose drain dies after it has stored, and before it clears.
type dying struct{ *journal.Journal }

func (dying) Clear(context.Context, journal.Key, int64) (int64, error) {
	return 0, errors.New("killed")
}

// A drain that dies between the digest and the clearing of the journal leaves each item
// once, and asks the writer for no second digest.
func TestADrainThatDiesBeforeItClears(t *testing.T) {
	t.Parallel()
	w := newWorld(t, spoke(tabs, "Fine, noted.")...)
	asked := 0
	o := w.known()
	o.Journal = dying{w.journal}
	o.Writer = pen(func(s digest.Session) ([]digest.Item, error) {
		asked++
		return []digest.Item{{Kind: digest.Decision, Text: "Makefiles are indented with tabs.", Turns: []amber.TurnID{s.Turns[0].ID}}}, nil
	})
	for range 2 {
		must.Get(w.worker(o).Once(context.Background()))(t)
	}
	o.Journal = w.journal
	must.Get(w.worker(o).Once(context.Background()))(t)
	must.Equal(t, "memories", w.everything(), []string{"project_fact: Makefiles are indented with tabs. x0"})
	must.Equal(t, "digests that the writer was asked for", asked, 1)
	must.Equal(t, "sessions left in the journal", len(must.Get(w.journal.Keys())(t)), 0)
}

// pen is a function as a writer.
type pen func(digest.Session) ([]digest.Item, error)

func (pen) Label() string { return "command" }
func (p pen) Write(_ context.Context, s digest.Session) ([]digest.Item, error) {
	return p(s)
}

// A writer writes in place of the rules; what it wrote is labelled.
func TestAWriterWritesTheDigest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, spoke(tabs, "Fine, noted.")...)
	o := w.known()
	o.Writer = pen(func(s digest.Session) ([]digest.Item, error) {
		return []digest.Item{{Kind: digest.Decision, Text: "Makefiles are indented with tabs.", Turns: []amber.TurnID{s.Turns[0].ID}}}, nil
	})
	report := w.once(o)
	must.Equal(t, "memories", w.everything(), []string{"project_fact: Makefiles are indented with tabs. x0"})
	must.Equal(t, "label", w.memories(amber.ProjectFact)[0].Metadata["digest"], "command")
	must.Equal(t, "report", len(report.DigestsByRule), 0)
}

// A writer that fails, invents or names no turn is told in the report, and the rules
// write.
func TestAWriterThatFails(t *testing.T) {
	t.Parallel()
	item := func(text string, turns ...amber.TurnID) pen {
		return func(s digest.Session) ([]digest.Item, error) {
			if len(turns) == 0 {
				turns = []amber.TurnID{s.Turns[0].ID}
			}
			return []digest.Item{{Kind: digest.Decision, Text: text, Turns: turns}}, nil
		}
	}
	for name, p := range map[string]pen{
		"fails":            func(digest.Session) ([]digest.Item, error) { return nil, errors.New("exit status 3") },
		"panics":           func(digest.Session) ([]digest.Item, error) { panic("a bug") },
		"nothing":          func(digest.Session) ([]digest.Item, error) { return nil, nil },
		"a new number":     item("Makefiles have 17 tabs."),
		"a new path":       item("Makefiles are in /etc/makefiles."),
		"a new URL":        item("Makefiles come from https://evil.example/x."),
		"a new name":       item("Makefiles are made by makeGenerator."),
		"a new product":    item("Makefiles are indented with Emacs."),
		"a turn of nobody": item("Makefiles have tabs.", "t-unknown"),
		"too long":         item(strings.Repeat("tabs ", 200)),
		"a kind of nobody's": func(s digest.Session) ([]digest.Item, error) {
			return []digest.Item{{Kind: "secret", Text: "Makefiles have tabs.", Turns: []amber.TurnID{s.Turns[0].ID}}}, nil
		},
	} {
		w := newWorld(t, spoke(tabs, "Fine, noted.")...)
		o := w.known()
		o.Writer = p
		report := w.once(o)
		must.Equal(t, name+": memories", w.everything(), []string{"user_preference: " + tabs + " x0"})
		if report.DigestsByRule["s-1"] == "" || w.memories(amber.UserPreference)[0].Metadata["digest"] != "rules" {
			t.Errorf("%s: %+v", name, report)
		}
	}
}
