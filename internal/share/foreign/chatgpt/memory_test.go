package chatgpt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

// saves returns a message that saves a memory.
func saves(id, parent string, at any, text string) msg {
	return msg{id: id, parent: parent, role: "assistant", kind: "code", recipient: "bio", at: at, content: map[string]any{"text": text}}
}

// lists returns a message with the list of all memories.
func lists(id, parent string, at any, list string) msg {
	return msg{
		id: id, parent: parent, role: "assistant", kind: "model_editable_context", at: at, content: map[string]any{"model_set_context": list},
		metadata: map[string]any{"is_visually_hidden_from_conversation": true},
	}
}

// facts returns memories as lines of a date and a text.
func facts(r *foreigntest.Recorder) string {
	var b strings.Builder
	for _, m := range r.Memories {
		fmt.Fprintf(&b, "%.10s %s\n", m.CreatedAt, m.Content)
	}
	return b.String()
}

const day = 86400

func TestTheNewestListAndWhatWasSavedAfterIt(t *testing.T) {
	t.Parallel()
	const start = 1767225600 // 2026-01-01
	old := talk(t, "old", "d", nil,
		lists("a", "root", start, "1. [2025-01-01]. Gone since.\n\n2. [2025-02-02]. Kept."),
		saves("b", "a", start+day, "Forgotten later."),
		saves("c", "b", start+2*day, "Kept,  too."),
		saves("d", "c", start+9*day, "After the list."))
	new := talk(t, "new", "c", nil,
		lists("a", "root", start+5*day, "1. [2025-02-02]. Kept.\n\n2. [2026-01-03]. Kept,\ntoo."),
		lists("b", "a", start+6*day, ""),
		saves("given", "b", start+7*day, "Saved by an answer that was given up."),
		saves("again", "b", start+8*day, "Forgotten later."),
		saves("forget", "b", start+8*day, "Forget that the user likes tea."),
		said("c", "b", "user", start+8*day, "hello"))
	want := "2025-02-02 Kept.\n2026-01-03 Kept,\ntoo.\n2026-01-02 Forgotten later.\n2026-01-08 Saved by an answer that was given up.\n2026-01-10 After the list.\n"
	for range 20 { // the order of a map decides nothing
		r := readTalks(t, new, old)
		must.Equal(t, "facts", facts(r), want)
		must.Equal(t, "turns", foreigntest.Texts(r.Turns["chatgpt-new"]), "user: hello\n")
		must.Equal(t, "sessions", len(r.Sessions), 1)
		must.Equal(t, "skips", strings.Join(r.Skips, "\n"),
			"conversations.json: conversation 1, message forget: message asks ChatGPT to forget something and does not say which memory")
	}
	must.Equal(t, "facts the other way", facts(readTalks(t, old, new)), want)
}

func TestAMemoryThatIsNotInTheNewestListWasDeleted(t *testing.T) {
	t.Parallel()
	r := readTalks(t, talk(t, "c", "b", nil, saves("a", "root", 1767225601, "User drinks coffee."), lists("b", "a", 1767225602, "1. [2026-01-01]. User drinks tea.")))
	must.Equal(t, "facts", facts(r), "2026-01-01 User drinks tea.\n")
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"),
		"conversations.json: conversation 1, message a: memory is not in the newest list of memories, of 2026-01-01T00:00:02.000Z: taken for deleted")
}

// Without any list, every call counts, and a fact that was saved twice is one.
func TestSavedMemoriesWithoutAList(t *testing.T) {
	t.Parallel()
	r := readTalks(t, talk(t, "c", "c", nil,
		saves("a", "root", nil, "First."), saves("b", "a", 1767225602+day, "Second."), saves("c", "b", 1767225603+2*day, "  First. "), saves("d", "c", nil, " ")))
	must.Equal(t, "facts", facts(r), "2026-01-01 First.\n2026-01-02 Second.\n")
	key := foreign.Key{foreign.Hex(foreign.Digest("First."))}
	must.Equal(t, "key", r.Memories[0].Key, key)
}

func TestEntriesOfAList(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"": "",
		"1. [2025-11-03]. User drinks oolong.\n\n2. [2025-12-24]. User brews.": "2025-11-03|User drinks oolong.\n2025-12-24|User brews.\n",
		"1. [2025-11-03]. Has steps:\n1. boil\n2. pour\n\n2. [2025-11-04] b":   "2025-11-03|Has steps:\n1. boil\n2. pour\n2025-11-04|b\n",
		"1. [2025-11-03]. a\n2. [2025-11-04]. b":                               "2025-11-03|a\n2025-11-04|b\n",
		"# Model Set Context\n\n1. [2025-11-03]. a\n\n2. [2025-11-04]. ":       "2025-11-03|a\n",
		"1. no date\n\n2. none either\r\n\r\nthird":                            "|no date\n|none either\n|third\n",
		"12. [some day]. a": "some day|a\n",
		"  \n\n ":           "",
	} {
		var got strings.Builder
		for _, e := range entries(list) {
			fmt.Fprintf(&got, "%s|%s\n", e.day, e.text)
		}
		must.Equal(t, list, got.String(), want)
	}
}

func TestDatesOfEntries(t *testing.T) {
	t.Parallel()
	r := readTalks(t, talk(t, "c", "a", nil, lists("a", "root", nil, "1. [2025-13-01]. Bad month.\n\n2. [1970-01-01]. Too old.\n\n3. [unknown]. No date.\n\n4. [unknown]. No  date.")))
	must.Equal(t, "facts", facts(r), "2026-01-01 No date.\n")
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"), `conversations.json: conversation 1, message a, entry 1: time is "2025-13-01", want a date and time as in 2026-01-02T03:04:05Z
conversations.json: conversation 1, message a, entry 2: time is 1970-01-01T00:00:00Z, want one from 1990 to 2099`)
}

func TestCustomInstructions(t *testing.T) {
	t.Parallel()
	set := func(id string, at any, profile, how any) msg {
		return msg{
			id: id, parent: "root", role: "user", kind: "user_editable_context", at: at, metadata: map[string]any{"is_visually_hidden_from_conversation": true},
			content: map[string]any{"user_profile": profile, "user_instructions": how},
		}
	}
	wrapped := "The user provided the following information about themselves.\nUser profile:\n```Ada, keeps a ```shop``` .```"
	r := readTalks(t, talk(t, "c", "x", nil,
		set("old", 1767225600, "Bob", "Shout."), set("new", 1767225600+day, wrapped, "Answer ```briefly```"), set("empty", 1767225600+2*day, "", 7)))
	must.Equal(t, "notes", r.Notes, []foreign.Note{{
		Place: foreign.Place{File: "conversations.json", At: "conversation 1, message new"}, Name: "chatgpt/custom-instructions", UpdatedAt: foreigntest.At(t, "2026-01-02"),
		Content: "# Custom instructions\n\n## About the user\n\nAda, keeps a ```shop``` .\n\n## How to answer\n\nAnswer ```briefly```\n",
	}}, foreigntest.Times)
	must.Equal(t, "all", r.Count(), 1)
}

// The reader bounds the saved memories that it holds until it has read the last conversation.
func TestSavedMemoriesAreBounded(t *testing.T) {
	t.Parallel()
	r := &foreigntest.Recorder{}
	m := newMemories(r)
	for i := range 40 {
		m.call(found{text: fmt.Sprint(i, strings.Repeat("x", 1<<20)), at: foreigntest.At(t, "2026-01-01")})
	}
	must.Do(t, m.tell())
	must.Equal(t, "memories", len(r.Memories), 31)
	must.Equal(t, "skips", len(r.Skips), 1)
}
