package claudecode_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/claudecode"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

// object is a JSON object.
type object = map[string]any

// said makes a line. Its number is its uuid and its second.
func said(n, parent int, typ string, content any, more ...object) object {
	l := object{
		"type": typ, "uuid": id(n), "parentUuid": nil, "sessionId": session, "cwd": "/src/shop",
		"timestamp": fmt.Sprintf("2026-01-02T03:%02d:%02d.000Z", n/60, n%60), "message": object{"role": typ, "content": content},
	}
	if parent != 0 {
		l["parentUuid"] = id(parent)
	}
	for _, m := range more {
		for k, v := range m {
			l[k] = v
		}
	}
	return l
}

// part makes a line of an answer.
func part(n, parent int, message string, blocks ...object) object {
	l := said(n, parent, "assistant", nil)
	l["message"] = object{"id": message, "role": "assistant", "content": blocks}
	return l
}

func id(n int) string { return fmt.Sprintf("a1000000-0000-4000-8000-%012d", n) }

func text(s string) object { return object{"type": "text", "text": s} }

func use(id, name string, input object) object {
	return object{"type": "tool_use", "id": id, "name": name, "input": input}
}

func result(id string, content any) object {
	return object{"type": "tool_result", "tool_use_id": id, "content": content}
}

func jsonl(lines ...object) string {
	var b strings.Builder
	for _, l := range lines {
		raw, err := json.Marshal(l)
		if err != nil {
			panic(err)
		}
		b.Write(raw)
		b.WriteByte('\n')
	}
	return b.String()
}

// heard reads one transcript.
func heard(t *testing.T, lines ...object) *foreigntest.Recorder {
	t.Helper()
	return foreigntest.Read(t, claudecode.Format, foreigntest.Files(t, map[string]string{"projects/-src-shop/" + session + ".jsonl": jsonl(lines...)}))
}

// spoken returns the turns of a session, and checks that as many were announced.
func spoken(t *testing.T, r *foreigntest.Recorder, id amber.SessionID) string {
	t.Helper()
	for _, s := range r.Sessions {
		if s.ID == id && s.Turns != int64(len(r.Turns[id])) {
			t.Errorf("session %s announces %d turns and has %d", id, s.Turns, len(r.Turns[id]))
		}
	}
	return foreigntest.Texts(r.Turns[id])
}

func TestABranchThatWasLeftIsNoPartOfTheConversation(t *testing.T) {
	t.Parallel()
	r := heard(t,
		said(1, 0, "user", "first"),
		said(2, 1, "assistant", []object{text("one")}),
		said(3, 2, "user", "left"),
		said(4, 3, "assistant", []object{text("left, too")}),
		said(5, 2, "user", "second"),
		object{"type": "system", "uuid": id(6), "parentUuid": id(5), "sessionId": session, "subtype": "turn_duration"},
		said(7, 6, "assistant", []object{text("two")}),
		object{"type": "last-prompt", "sessionId": session},
	)
	must.Equal(t, "turns", spoken(t, r, session), "user: first\nassistant: one\nuser: second\nassistant: two\n")
}

func TestFilesThatAreNotWholeAreReadInOrder(t *testing.T) {
	t.Parallel()
	for what, lines := range map[string][]object{
		"a parent is missing": {said(1, 0, "user", "a"), said(2, 9, "user", "b"), said(3, 1, "user", "c")},
		"two beginnings":      {said(1, 0, "user", "a"), said(2, 0, "user", "b"), said(3, 2, "user", "c")},
		"a circle":            {said(1, 3, "user", "a"), said(2, 1, "user", "b"), said(3, 2, "user", "c")},
		"its own parent":      {said(1, 0, "user", "a"), said(2, 2, "user", "b"), said(3, 1, "user", "c")},
		"a later parent":      {said(1, 0, "user", "a"), said(2, 3, "user", "b"), said(3, 1, "user", "c")},
	} {
		must.Equal(t, what, spoken(t, heard(t, lines...), session), "user: a\nuser: b\nuser: c\n")
	}
}

func TestLinesWithoutIDs(t *testing.T) {
	t.Parallel()
	a, b := said(1, 0, "user", "a"), said(2, 0, "assistant", "b")
	delete(a, "uuid")
	delete(b, "uuid")
	r := heard(t, a, b, object{"type": "last-prompt", "sessionId": session})
	must.Equal(t, "turns", spoken(t, r, session), "user: a\nassistant: b\n")
	must.Equal(t, "key", r.Turns[session][1].Key, foreign.Key{session, "line 2"})
}

func TestAnAnswerInSeveralLinesIsOneTurn(t *testing.T) {
	t.Parallel()
	r := heard(t,
		said(1, 0, "user", "go"),
		part(2, 1, "m1", object{"type": "thinking", "thinking": "hm"}),
		part(3, 2, "m1", text("I look.")),
		part(4, 3, "m1", text("I look. Twice."), use("u1", "Bash", object{"command": "ls"})),
		part(5, 4, "m1", text("I look. Twice."), use("u1", "Bash", object{"command": "ls"}), use("u2", "Read", object{"file_path": "/x"})),
		part(6, 5, "m1", text("And more.")),
		said(7, 6, "user", []object{result("u1", "out 1")}),
		said(8, 7, "user", []object{result("u2", []object{text("out 2"), {"type": "image"}})}),
		part(9, 8, "m2", text("Done.")),
	)
	must.Equal(t, "turns", spoken(t, r, session),
		"user: go\nassistant: I look. Twice.\n\nAnd more.\ntool: out 1\ntool: out 2\n[image]\nassistant: Done.\n")
	turn := r.Turns[session][1]
	must.Equal(t, "key", turn.Key, foreign.Key{id(3)})
	must.Equal(t, "activity", turn.Activity, []amber.Activity{
		{Kind: amber.ActivityTool, Name: "Bash", Detail: `{"command":"ls"}`, Status: "completed", Count: 1},
		{Kind: amber.ActivityCommand, Name: "ls", Status: "completed", Count: 1},
		{Kind: amber.ActivityTool, Name: "Read", Detail: `{"file_path":"/x"}`, Status: "completed", Count: 1},
		{Kind: amber.ActivityFile, Name: "/x", Status: "read", Count: 1},
	}, foreigntest.Times)
}

// Tools that run at the same time: each result follows the line that asked for it, so all but one lie beside the branch,
// and they come before the answer is whole.
func TestToolsAtTheSameTime(t *testing.T) {
	t.Parallel()
	r := heard(t,
		said(1, 0, "user", "go"),
		part(2, 1, "m1", text("Both."), use("u1", "Read", object{"file_path": "/a"})),
		said(3, 2, "user", []object{result("u1", "a")}),
		part(4, 2, "m1", use("u2", "Read", object{"file_path": "/b"})),
		said(5, 4, "user", []object{result("u2", "b")}),
		part(6, 3, "m2", text("Done.")),
		said(7, 1, "user", []object{text("left")}),
		part(8, 6, "m3", text("Yes.")),
	)
	must.Equal(t, "turns", spoken(t, r, session), "user: go\nassistant: Both.\ntool: a\ntool: b\nassistant: Done.\nassistant: Yes.\n")
	must.Equal(t, "activities", len(r.Turns[session][1].Activity), 4)
}

func TestAFailureIsToldWithItsResult(t *testing.T) {
	t.Parallel()
	failed := result("u1", "exit 1\nno such file")
	failed["is_error"] = true
	r := heard(t,
		said(1, 0, "user", "go"),
		part(2, 1, "m1", use("u1", "Bash", object{"command": "cat x"}), use("u2", "Bash", object{"command": "never"})),
		said(3, 2, "user", []object{failed}),
	)
	must.Equal(t, "asked", r.Turns[session][1].Activity, []amber.Activity{
		{Kind: amber.ActivityTool, Name: "Bash", Detail: `{"command":"cat x"}`, Status: "failed", Count: 1, Failed: 1},
		{Kind: amber.ActivityCommand, Name: "cat x", Status: "failed", Count: 1, Failed: 1},
		{Kind: amber.ActivityTool, Name: "Bash", Detail: `{"command":"never"}`, Count: 1},
		{Kind: amber.ActivityCommand, Name: "never", Count: 1},
	}, foreigntest.Times)
	must.Equal(t, "answered", r.Turns[session][2].Activity, []amber.Activity{
		{Kind: amber.ActivityError, Name: "Bash: exit 1", Count: 1, Failed: 1},
	}, foreigntest.Times)
}

func TestCompactionGoesOnFromTheLineBefore(t *testing.T) {
	t.Parallel()
	r := heard(t,
		said(1, 0, "user", "first"),
		said(2, 1, "user", "left"),
		said(3, 1, "user", "second"),
		object{"type": "system", "subtype": "compact_boundary", "uuid": id(4), "parentUuid": nil, "logicalParentUuid": id(3), "sessionId": session},
		said(5, 4, "user", "The summary.", object{"isCompactSummary": true}),
		said(6, 5, "user", "third"),
	)
	must.Equal(t, "turns", spoken(t, r, session), "user: first\nuser: second\nuser: third\n")
	turn := r.Turns[session][2]
	must.Equal(t, "compaction", turn.Compaction+string(turn.Content), "The summary.")
}

func TestWhatTheProgramSaysIsNotTheUsers(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"plain": "plain",
		"<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>":            "",
		"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the money</command-args>": "the money",
		"<local-command-stdout>ok</local-command-stdout>":                                                                         "",
		"<system-reminder>be kind</system-reminder>\n\nFix it":                                                                    "Fix it",
		"Fix it\n<system-reminder>be kind</system-reminder>":                                                                      "Fix it",
		"What is <system-reminder>x</system-reminder> for?":                                                                       "What is <system-reminder>x</system-reminder> for?",
		"<system-reminder> is a tag":                                                                                              "<system-reminder> is a tag",
		"Caveat: The messages below were generated by the user while running commands.":                                           "",
		"Caveat: I may be wrong":                                       "Caveat: I may be wrong",
		"[Request interrupted by user for tool use]":                   "",
		strings.Repeat("<system-reminder></system-reminder>", 3) + "x": "x",
	} {
		r := heard(t, said(1, 0, "user", content), said(2, 1, "user", "end"))
		if want != "" {
			want = "user: " + want + "\n"
		}
		must.Equal(t, content, spoken(t, r, session), want+"user: end\n")
	}
}

func TestWhatIsDropped(t *testing.T) {
	t.Parallel()
	synthetic := part(4, 3, "m1", text("No response requested."))
	synthetic["message"].(object)["model"] = "<synthetic>"
	r := heard(t,
		said(1, 0, "user", "meta", object{"isMeta": true}),
		said(2, 1, "assistant", []object{{"type": "thinking", "thinking": "hm"}, {"type": "redacted_thinking"}, {"type": "new"}}),
		object{"type": "invented", "uuid": id(3), "parentUuid": id(2), "message": object{"content": "x"}},
		synthetic,
		said(5, 4, "user", []object{result("u", ""), text(" ")}),
		said(6, 5, "user", "kept"),
		object{"type": "summary", "summary": "Of another", "leafUuid": id(9)},
	)
	must.Equal(t, "turns", spoken(t, r, session), "user: kept\n")
	must.Equal(t, "skips", r.Skips, nil)
}

func TestPromptsTypedMeanwhile(t *testing.T) {
	t.Parallel()
	queued := func(n, parent int, prompt, mode string) object {
		return object{
			"type": "attachment", "uuid": id(n), "parentUuid": id(parent), "sessionId": session,
			"attachment": object{"type": "queued_command", "prompt": prompt, "commandMode": mode},
		}
	}
	r := heard(t,
		said(1, 0, "user", "go"),
		part(2, 1, "m1", text("Yes.")),
		queued(3, 2, "and this", "prompt"),
		queued(4, 2, "an agent is done", "task-notification"),
		part(5, 2, "m2", text("Done.")),
	)
	must.Equal(t, "turns", spoken(t, r, session), "user: go\nassistant: Yes.\nuser: and this\nassistant: Done.\n")
}

func TestAPromptBesideResults(t *testing.T) {
	t.Parallel()
	r := heard(t,
		said(1, 0, "user", "go"),
		part(2, 1, "m1", use("u", "Bash", object{})),
		said(3, 2, "user", []object{result("u", "out"), text("stop")}),
	)
	must.Equal(t, "turns", spoken(t, r, session), "user: go\ntool: out\nuser: stop\n")
	must.Equal(t, "keys", []foreign.Key{r.Turns[session][2].Key, r.Turns[session][3].Key}, []foreign.Key{{id(3), "results"}, {id(3)}})
}

func TestNames(t *testing.T) {
	t.Parallel()
	custom, ai := object{"type": "custom-title", "customTitle": "Mine", "sessionId": session}, object{"type": "ai-title", "aiTitle": "Its", "sessionId": session}
	prompt := said(1, 0, "user", "the first line\nand more")
	must.Equal(t, "custom", heard(t, prompt, custom, ai).Sessions[0].Name, "Mine")
	must.Equal(t, "ai", heard(t, prompt, ai).Sessions[0].Name, "Its")
	must.Equal(t, "prompt", heard(t, prompt).Sessions[0].Name, "the first line")
	last := object{"type": "custom-title", "customTitle": "Last", "sessionId": session}
	must.Equal(t, "last custom", heard(t, custom, prompt, last).Sessions[0].Name, "Last")
	left := heard(t, said(1, 0, "user", "<command-name>/x</command-name>"), said(2, 1, "user", "left"), said(3, 1, "user", "kept"))
	must.Equal(t, "prompt of the branch that counts", left.Sessions[0].Name, "kept")
}

func TestTimes(t *testing.T) {
	t.Parallel()
	none, bad, odd := said(2, 1, "user", "none"), said(3, 2, "user", "bad"), said(4, 3, "user", "odd")
	delete(none, "timestamp")
	bad["timestamp"], odd["timestamp"] = "1889-01-01T00:00:00Z", 17
	r := heard(t, said(1, 0, "user", "one"), none, bad, odd, said(5, 4, "user", "five"))
	must.Equal(t, "turns", spoken(t, r, session), "user: one\nuser: none\nuser: five\n")
	must.Equal(t, "time of the line before", r.Turns[session][1].At, at("2026-01-02T03:00:01Z"), foreigntest.Times)
	must.Equal(t, "skips", len(r.Skips), 2)
	must.Says(t, "", strings.Join(r.Skips, "\n"), "line 3", "1889", "line 4", "17")

	only := said(1, 0, "user", "one")
	delete(only, "timestamp")
	r = heard(t, only)
	must.Equal(t, "time of the file", []amber.Time{r.Turns[session][0].At, r.Sessions[0].StartedAt, r.Sessions[0].EndedAt},
		[]amber.Time{foreigntest.Modified, foreigntest.Modified, foreigntest.Modified}, foreigntest.Times)
}

func TestAgentsAreSessionsOfTheirOwn(t *testing.T) {
	t.Parallel()
	side := object{"isSidechain": true}
	named := object{"isSidechain": true, "agentId": "ab12"}
	const dir = "projects/-src-shop/"
	r := foreigntest.Read(t, claudecode.Format, foreigntest.Files(t, map[string]string{
		dir + session + ".jsonl": jsonl(
			said(1, 0, "user", "main"),
			said(10, 0, "user", "side 1", side),
			said(20, 0, "user", "named", named),
			said(11, 10, "assistant", "answer 1", side),
			said(2, 1, "assistant", "go on"),
			said(12, 11, "user", "more 1", side),
			said(30, 2, "user", "side 2", side),
			said(21, 20, "assistant", "named answer", named),
			said(31, 99, "assistant", "answer 2", side),
			said(3, 2, "user", "end"),
		),
		dir + session + "/subagents/agent-cd34.jsonl":       jsonl(said(40, 0, "user", "sub", side), said(41, 40, "assistant", "sub answer", side)),
		dir + "agent-ef56.jsonl":                            jsonl(said(50, 0, "user", "old layout", side)),
		dir + session + "/subagents/agent-acompact-1.jsonl": jsonl(said(60, 0, "user", "summarise", side)),
		dir + session + "/subagents/agent-cd34.meta.json":   `{"agentType":"x"}`,
		dir + session + "/tool-results/abc.txt":             "long",
	}))
	turns := map[amber.SessionID]string{}
	for _, s := range r.Sessions {
		turns[s.ID] = spoken(t, r, s.ID)
		if s.ID != session && (s.Parent != session || s.Directory != "/src/shop") {
			t.Errorf("session %s has parent %q and directory %q", s.ID, s.Parent, s.Directory)
		}
	}
	must.Equal(t, "sessions", turns, map[amber.SessionID]string{
		session:                 "user: main\nassistant: go on\nuser: end\n",
		session + "-agent-ab12": "user: named\nassistant: named answer\n",
		amber.SessionID(session + "-side-" + id(10)): "user: side 1\nassistant: answer 1\nuser: more 1\n",
		amber.SessionID(session + "-side-" + id(30)): "user: side 2\nassistant: answer 2\n",
		session + "-agent-cd34":                      "user: sub\nassistant: sub answer\n",
		session + "-agent-ef56":                      "user: old layout\n",
	})
	must.Equal(t, "name of an agent's session", r.Sessions[len(r.Sessions)-1].Name, "old layout")
}

func TestLinesThatWereCopiedBelongToTheFirstSession(t *testing.T) {
	t.Parallel()
	const older, newer, fork = "ffffffff-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002", "00000000-0000-4000-8000-000000000003"
	of := func(session string, l object) object { l["sessionId"] = session; return l }
	forked := func(l object) object {
		l["forkedFrom"] = object{"sessionId": older, "messageUuid": l["uuid"]}
		return l
	}
	dir := foreigntest.Files(t, map[string]string{
		// The names are in the wrong order, and all files are of one time.
		"projects/-src-shop/" + older + ".jsonl": jsonl(of(older, said(1, 0, "user", "one")), of(older, said(2, 1, "user", "two"))),
		"projects/-src-shop/" + newer + ".jsonl": jsonl(
			of(older, said(1, 0, "user", "one")), of(older, said(2, 1, "user", "two")), of(newer, said(3, 2, "user", "three"))),
		"projects/-src-shop/" + fork + ".jsonl": jsonl(
			forked(of(fork, said(1, 0, "user", "one"))), of(fork, said(4, 1, "user", "four"))),
	})
	r := foreigntest.Read(t, claudecode.Format, dir)
	must.Equal(t, "older", spoken(t, r, older), "user: one\nuser: two\n")
	must.Equal(t, "newer", spoken(t, r, newer), "user: three\n")
	must.Equal(t, "fork", spoken(t, r, fork), "user: four\n")
	parents := map[amber.SessionID]amber.SessionID{}
	for _, s := range r.Sessions {
		parents[s.ID] = s.Parent
	}
	must.Equal(t, "parents", parents, map[amber.SessionID]amber.SessionID{older: "", newer: older, fork: older})
}

// A session that was moved to another folder and went on there, and one that goes on in another file under its old id.
func TestTwoFilesOfOneSession(t *testing.T) {
	t.Parallel()
	const next = "00000000-0000-4000-8000-000000000002"
	r := foreigntest.Read(t, claudecode.Format, foreigntest.Files(t, map[string]string{
		"projects/-a/" + session + ".jsonl": jsonl(said(1, 0, "user", "one")),
		"projects/-b/" + session + ".jsonl": jsonl(said(1, 0, "user", "one"), said(2, 1, "user", "two")),
		"projects/-c/" + next + ".jsonl":    jsonl(said(1, 0, "user", "one"), said(3, 1, "user", "three")),
		"projects/-d/" + session + ".jsonl": jsonl(said(9, 0, "user", "x")),
	}))
	got := map[amber.SessionID]string{}
	for _, s := range r.Sessions {
		got[s.ID] = string(s.Parent) + " " + spoken(t, r, s.ID)
	}
	must.Equal(t, "sessions", got, map[amber.SessionID]string{
		session: " user: one\nuser: two\n", next: session + " user: three\n", session + "-2": session + " user: x\n",
	})
}

func TestALineTwiceInAFileCountsOnce(t *testing.T) {
	t.Parallel()
	r := heard(t, said(1, 0, "user", "one"), said(2, 1, "user", "two"), said(1, 0, "user", "one again"), said(3, 2, "user", "three"))
	must.Equal(t, "turns", spoken(t, r, session), "user: one\nuser: two\nuser: three\n")
}

func TestOddTypesLoseOnlyThemselves(t *testing.T) {
	t.Parallel()
	odd := said(2, 1, "user", "odd", object{"cwd": 7, "isMeta": "yes", "isSidechain": nil, "sessionId": []int{1}, "agentId": true})
	r := heard(t, said(1, 0, "user", "one"), odd, said(3, 2, "assistant", []any{"x", nil, 7, text("kept"), object{"type": 1}}))
	must.Equal(t, "turns", spoken(t, r, session), "user: one\nuser: odd\nassistant: kept\n")
}

func TestBrokenLinesAreNamed(t *testing.T) {
	t.Parallel()
	content := jsonl(said(1, 0, "user", "one")) + "{\"type\":\"user\"\n[1]\nnull\n\n" + strings.Repeat("[", 20000) + "\n" +
		"{\"type\":\"user\",\"message\":{\"content\":" + strings.Repeat("[", 20000) + "\n" + jsonl(said(2, 1, "user", "two\x00ä")) + "{\"type\":\"us"
	dir := foreigntest.Files(t, map[string]string{"projects/-src-shop/" + session + ".jsonl": content})
	r := foreigntest.Read(t, claudecode.Format, dir)
	must.Equal(t, "turns", spoken(t, r, session), "user: one\nuser: two\x00ä\n")
	var lines []string
	for _, s := range r.Skips {
		_, s, _ = strings.Cut(s, ": ")
		s, _, _ = strings.Cut(s, ":")
		lines = append(lines, s)
	}
	must.Equal(t, "skips", lines, []string{"line 2", "line 3", "line 6", "line 7", "line 9"})
}

// A transcript holds long answers and long results of tools, and none of it stays in memory.
func TestALongAnswerIsCutIntoTurns(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3<<20)
	r := heard(t,
		said(1, 0, "user", "go"),
		part(2, 1, "m1", text("a"+long)), part(3, 2, "m1", text("b"+long)), part(4, 3, "m1", text("c"+long)),
		said(5, 4, "user", []object{result("u1", "d"+long)}), said(6, 5, "user", []object{result("u2", "e"+long)}),
		part(7, 6, "m1", text("end")),
	)
	var order []string
	for _, turn := range r.Turns[session] {
		order = append(order, fmt.Sprintf("%s %c %d", turn.Role, turn.Content[0], len(turn.Content)>>20))
	}
	spoken(t, r, session)
	must.Equal(t, "turns", order, []string{"user g 0", "assistant a 6", "assistant c 3", "tool d 3", "tool e 3", "assistant e 0"})
}

func TestTranscriptsByAnyName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := must.Get(os.ReadFile(sample + "/projects/-src-shop/" + session + ".jsonl"))(t)
	foreigntest.Put(t, dir, map[string]string{"talk.jsonl": string(whole), "other.jsonl": `{"a":1}`})
	must.Equal(t, "in a folder", len(foreigntest.Read(t, claudecode.Format, dir).Turns[session]), 4)
	must.Equal(t, "alone", len(foreigntest.Read(t, claudecode.Format, filepath.Join(dir, "talk.jsonl")).Turns[session]), 4)
}
