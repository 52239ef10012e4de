package chatgpt

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

// zipped makes a zip file of files.
func zipped(t testing.TB, files map[string]string) string {
	t.Helper()
	return foreigntest.Zipped(t, "export.zip", foreigntest.Files(t, files))
}

func sample(t testing.TB) string {
	t.Helper()
	return string(must.Get(os.ReadFile("testdata/conversations-000.json"))(t))
}

// msg is one message of a conversation in a test.
type msg struct {
	id, parent, role, kind, recipient string
	at                                any
	content                           map[string]any
	metadata                          map[string]any
}

// said returns a message with text.
func said(id, parent, role string, at any, parts ...any) msg {
	return msg{id: id, parent: parent, role: role, kind: "text", at: at, content: map[string]any{"parts": parts}}
}

// talk returns a conversation as JSON.
func talk(t testing.TB, id, current string, more map[string]any, messages ...msg) string {
	t.Helper()
	mapping := map[string]any{"root": map[string]any{"id": "root", "message": nil, "parent": nil}}
	for _, m := range messages {
		content := map[string]any{"content_type": m.kind}
		for name, value := range m.content {
			content[name] = value
		}
		mapping[m.id] = map[string]any{"id": m.id, "parent": m.parent, "message": map[string]any{
			"id": m.id, "author": map[string]any{"role": m.role}, "create_time": m.at, "recipient": m.recipient, "content": content, "metadata": m.metadata,
		}}
	}
	c := map[string]any{"conversation_id": id, "title": id, "create_time": 1767225600, "update_time": 1767229200, "mapping": mapping, "current_node": current}
	for name, value := range more {
		c[name] = value
	}
	return string(must.Get(json.Marshal(c))(t))
}

func readTalks(t testing.TB, talks ...string) *foreigntest.Recorder {
	t.Helper()
	return foreigntest.Read(t, Format, foreigntest.Files(t, map[string]string{"conversations.json": "[" + strings.Join(talks, ",") + "]"}))
}

func TestTheSample(t *testing.T) {
	t.Parallel()
	const file = "conversations-000.json"
	place := func(at string) foreign.Place { return foreign.Place{File: file, At: "conversation 1" + at} }
	fact := func(at, text string, when amber.Time) foreign.Memory {
		return foreign.Memory{
			Place: place(at), Key: foreign.Key{foreign.Hex(foreign.Digest(text))}, Kind: amber.UserFact, Scope: amber.ScopeUser,
			Content: text, CreatedAt: when, UpdatedAt: when,
		}
	}
	alone := filepath.Join(t.TempDir(), file)
	must.Do(t, os.WriteFile(alone, []byte(sample(t)), 0o600))
	for name, source := range map[string]string{
		"folder": "testdata", "file": alone, "zip": zipped(t, map[string]string{file: sample(t), "user.json": "{}"}),
	} {
		r := foreigntest.Read(t, Format, source)
		must.Equal(t, name+": sessions", r.Sessions, []foreign.Session{{
			Place: place(""), ID: "chatgpt-c1", Name: "Tea", StartedAt: foreigntest.At(t, "2026-01-01T00:00:00.5Z"), EndedAt: foreigntest.At(t, "2026-01-01T00:01:40Z"), Turns: 2, State: "n5",
		}}, foreigntest.Times)
		must.Equal(t, name+": turns", r.Turns["chatgpt-c1"], []foreign.Turn{
			{Place: place(", message n1"), Key: foreign.Key{"n1"}, Role: amber.RoleUser, Content: "Which tea do I like?", At: foreigntest.At(t, "2026-01-01T00:00:00.5Z")},
			{Place: place(", message n5"), Key: foreign.Key{"n5"}, Role: amber.RoleAssistant, Content: "Oolong, without milk.", At: foreigntest.At(t, "2026-01-01T00:01:00Z")},
		}, foreigntest.Times)
		must.Equal(t, name+": memories", r.Memories, []foreign.Memory{
			fact(", message n2, entry 1", "User drinks oolong.", foreigntest.At(t, "2025-11-03")),
			fact(", message n2, entry 2", "User brews at 90 degrees.", foreigntest.At(t, "2025-12-24")),
			fact(", message n3", "User takes no milk.", foreigntest.At(t, "2026-01-01T00:00:50Z")),
		}, foreigntest.Times)
		must.Equal(t, name+": skips and warnings", len(r.Skips)+len(r.Warnings)+len(r.Notes), 0)
	}
}

func TestProjectOfTheCaller(t *testing.T) {
	t.Parallel()
	o := foreigntest.Options()
	o.Project = "tea"
	r := foreigntest.ReadWith(t, Format, "testdata", o)
	must.Equal(t, "project", r.Sessions[0].Project, "tea")
}

func TestKindsOfContent(t *testing.T) {
	t.Parallel()
	image := map[string]any{"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
	spoken := map[string]any{"content_type": "audio_transcription", "text": "spoken"}
	sound := map[string]any{"content_type": "audio_asset_pointer", "asset_pointer": "sediment://x"}
	hidden := map[string]any{"is_visually_hidden_from_conversation": true}
	messages := []msg{
		said("a", "root", "system", nil, ""),
		said("b", "a", "system", nil, "Be brief."),
		{id: "c", parent: "b", role: "user", kind: "multimodal_text", content: map[string]any{"parts": []any{image, "What is this?", spoken, sound, 7, nil}}},
		{id: "d", parent: "c", role: "assistant", kind: "thoughts", content: map[string]any{"thoughts": []any{}}},
		{id: "e", parent: "d", role: "assistant", kind: "code", recipient: "python", content: map[string]any{"language": "python", "text": "print(1)"}},
		{id: "f", parent: "e", role: "tool", kind: "execution_output", content: map[string]any{"text": "1"}},
		{id: "g", parent: "f", role: "assistant", kind: "tether_quote", content: map[string]any{"title": "Tea", "url": "https://example.com", "text": "Oolong is tea."}},
		{id: "h", parent: "g", role: "tool", kind: "tether_browsing_display", content: map[string]any{"result": "x"}},
		{id: "i", parent: "h", role: "assistant", kind: "reasoning_recap", content: map[string]any{"content": "Thought for 2 s"}},
		{id: "j", parent: "i", role: "tool", kind: "system_error", content: map[string]any{"text": "failed"}},
		{id: "k", parent: "j", role: "assistant", kind: "text", metadata: hidden, content: map[string]any{"parts": []any{"hidden"}}},
		said("l", "k", "assistant", nil, "It is \ue200cite\ue202turn0search1\ue201tea\ue200x\ue201. \ue200open", "Two\nlines."),
		{id: "m", parent: "l", role: "assistant", kind: "new_kind", content: map[string]any{"text": "new"}},
		{id: "n", parent: "m", role: "assistant", kind: "newer_kind", content: map[string]any{"data": 1}},
		said("o", "n", "critic", nil, "who?"),
		said("p", "o", "assistant", nil, " \n"),
	}
	r := readTalks(t, talk(t, "c", "p", nil, messages...))
	must.Equal(t, "turns", foreigntest.Texts(r.Turns["chatgpt-c"]), `system: Be brief.
user: [image]
What is this?
spoken
[audio]
assistant: print(1)
tool: 1
tool: Tea
https://example.com
Oolong is tea.
assistant: It is tea. `+"\ue200"+`open
Two
lines.
assistant: new
`)
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"), `conversations.json: conversation 1, message n: content is of type "newer_kind", which is not known and has no text
conversations.json: conversation 1, message o: author is "critic", want user, assistant, system or tool`)
}

func TestTheBranchOfTheCurrentMessage(t *testing.T) {
	t.Parallel()
	messages := []msg{
		said("q", "root", "user", 1767225601, "question"),
		said("a1", "q", "assistant", 1767225602, "first answer"),
		said("a2", "q", "assistant", 1767225603, "second answer"),
		said("f1", "a1", "user", 1767225604, "to the first"),
	}
	for name, tc := range map[string]struct{ current, want string }{
		"the current one":      {"a2", "user: question\nassistant: second answer\n"},
		"no current message":   {"", "user: question\nassistant: first answer\nuser: to the first\n"},
		"one that is missing":  {"gone", "user: question\nassistant: first answer\nuser: to the first\n"},
		"not the last message": {"a1", "user: question\nassistant: first answer\n"},
	} {
		r := readTalks(t, talk(t, "c", tc.current, nil, messages...))
		must.Equal(t, name, foreigntest.Texts(r.Turns["chatgpt-c"]), tc.want)
		must.Equal(t, name+": skips", len(r.Skips), 0)
	}
}

func TestBrokenTreesAreReadAsFarAsTheyGo(t *testing.T) {
	t.Parallel()
	circle := talk(t, "circle", "", nil, said("a", "c", "user", 1767225601, "one"), said("b", "a", "user", 1767225602, "two"), said("c", "b", "user", 1767225603, "three"))
	self := talk(t, "self", "s", nil, said("s", "s", "user", 1767225601, "alone"))
	orphan := talk(t, "orphan", "o", nil, said("o", "gone", "user", 1767225601, "orphan"))
	r := readTalks(t, circle, self, orphan)
	must.Equal(t, "circle", foreigntest.Texts(r.Turns["chatgpt-circle"]), "user: one\nuser: two\nuser: three\n")
	must.Equal(t, "self", foreigntest.Texts(r.Turns["chatgpt-self"]), "user: alone\n")
	must.Equal(t, "orphan", foreigntest.Texts(r.Turns["chatgpt-orphan"]), "user: orphan\n")
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"), `conversations.json: conversation 1: message "c" comes before itself: messages before it are not read
conversations.json: conversation 2: message "s" comes before itself: messages before it are not read
conversations.json: conversation 3: message "gone" is missing: messages before it are not read`)
}

func TestTimes(t *testing.T) {
	t.Parallel()
	messages := []msg{
		said("a", "root", "user", nil, "no time before"),
		said("b", "a", "user", 1767225700.25, "a time"),
		said("c", "b", "user", nil, "the one before"),
		said("d", "c", "user", 1767225700250, "milliseconds"),
		said("e", "d", "user", "2026-01-01", "text"),
		said("f", "e", "user", 1767225800, "last"),
	}
	noTimes := map[string]any{"create_time": nil, "update_time": nil}
	r := readTalks(t, talk(t, "none", "f", noTimes, messages...))
	var got []amber.Time
	for _, turn := range r.Turns["chatgpt-none"] {
		got = append(got, turn.At)
	}
	first, last := foreigntest.At(t, "2026-01-01T00:01:40.25Z"), foreigntest.At(t, "2026-01-01T00:03:20Z")
	must.Equal(t, "times", got, []amber.Time{first, first, first, last}, foreigntest.Times)
	must.Equal(t, "started", r.Sessions[0].StartedAt, first, foreigntest.Times)
	must.Equal(t, "ended", r.Sessions[0].EndedAt, last, foreigntest.Times)
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"), `conversations.json: conversation 1, message d: time is 1.76722570025e+12 seconds, want one from 1990 to 2099
conversations.json: conversation 1, message e: time is "2026-01-01", want seconds since 1970`)

	odd := map[string]any{"create_time": 12, "update_time": json.Number("1e999")}
	r = readTalks(t, talk(t, "odd", "a", odd, said("a", "root", "user", 1767225700, "x")))
	must.Equal(t, "started", r.Sessions[0].StartedAt, foreigntest.At(t, "2026-01-01T00:01:40Z"), foreigntest.Times)
	must.Equal(t, "skips", len(r.Skips), 2)

	r = readTalks(t, talk(t, "updated", "a", map[string]any{"create_time": nil}, said("a", "root", "user", nil, "x")))
	must.Equal(t, "started", r.Sessions[0].StartedAt, foreigntest.At(t, "2026-01-01T01:00:00Z"), foreigntest.Times)
	r = readTalks(t, talk(t, "nothing", "a", noTimes, said("a", "root", "user", nil, "x")))
	must.Hold(t, !r.Sessions[0].StartedAt.IsZero(), "a conversation without any time has that of its file")
}

func TestConversationsThatAreNotRead(t *testing.T) {
	t.Parallel()
	private := talk(t, "private", "b", map[string]any{"is_do_not_remember": true}, said("a", "root", "user", 1767225601, "secret"),
		msg{id: "b", parent: "a", role: "assistant", kind: "text", recipient: "bio", at: 1767225602, content: map[string]any{"parts": []any{"User has a secret."}}})
	odd := strings.Replace(strings.Replace(private, `"is_do_not_remember":true`, `"is_do_not_remember":"yes"`, 1), "private", "odd", 2)
	once := talk(t, "once", "a", nil, said("a", "root", "user", 1767225601, "hello"))
	empty := talk(t, "empty", "root", nil)
	r := readTalks(t, once, private, odd, once, empty, `{"title":"no mapping","id":"x"}`, `{"mapping":{}}`, `null`, `7`, `[]`)
	must.Equal(t, "sessions", len(r.Sessions), 1)
	must.Equal(t, "memories", len(r.Memories), 0)
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"), `conversations.json: conversation 2: conversation is marked as not to be remembered
conversations.json: conversation 3: conversation is marked as not to be remembered
conversations.json: conversation 4: conversation "once" is there twice; the first is read
conversations.json: conversation 6: element has no id or no messages, want a conversation with conversation_id and mapping
conversations.json: conversation 7: element has no id or no messages, want a conversation with conversation_id and mapping
conversations.json: conversation 8: element has no id or no messages, want a conversation with conversation_id and mapping
conversations.json: conversation 9: element has no id or no messages, want a conversation with conversation_id and mapping
conversations.json: conversation 10: element has no id or no messages, want a conversation with conversation_id and mapping`)
}

// An export of several files, with the id under its old name, and much that is not read.
func TestFilesOfAnExport(t *testing.T) {
	t.Parallel()
	old := strings.Replace(talk(t, "old", "a", nil, said("a", "root", "user", 1767225601, "one")), `"conversation_id":"old"`, `"id":"old"`, 1)
	new := talk(t, "new", "b", nil, said("b", "root", "user", 1767225602, "two"))
	files := map[string]string{
		"export/conversations-000.json": "[" + old + "]", "export/conversations-001.json": "\xef\xbb\xbf[\n" + new + "\n]",
		"export/chat.html":  "[" + talk(t, "html", "c", nil, said("c", "root", "user", 1767225603, "three")) + "]",
		"export/file-x.png": "\x89PNG", "export/user.json": "{}", "export/message_feedback.json": "[]",
	}
	for name, source := range map[string]string{"folder": foreigntest.Files(t, files), "zip": zipped(t, files)} {
		r := foreigntest.Read(t, Format, source)
		must.Equal(t, name+": sessions", []amber.SessionID{r.Sessions[0].ID, r.Sessions[1].ID}, []amber.SessionID{"chatgpt-old", "chatgpt-new"})
		must.Equal(t, name+": all", r.Count(), 4)
		must.Equal(t, name+": skips", len(r.Skips), 0)
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	one := talk(t, "c", "a", nil, said("a", "root", "user", 1767225601, "x"))
	pretty := must.Get(json.MarshalIndent(json.RawMessage("["+one+"]"), "", "    "))(t)
	long := `[{"title":"x","create_time":1,"update_time":2,"mapping":{"` + strings.Repeat("n", 100_000)
	claude := `[{"uuid":"u","name":"x","chat_messages":[]}]`
	for name, tc := range map[string]struct {
		source string
		want   foreign.Match
	}{
		"compact":            {foreigntest.Files(t, map[string]string{"conversations.json": "[" + one + "]"}), foreign.Sure},
		"pretty":             {foreigntest.Files(t, map[string]string{"conversations.json": string(pretty)}), foreign.Sure},
		"longer than a head": {foreigntest.Files(t, map[string]string{"conversations.json": long}), foreign.Sure},
		"zip in a folder":    {filepath.Dir(zipped(t, map[string]string{"conversations-000.json": "[" + one + "]"})), foreign.Sure},
		"any name alone":     {filepath.Join(foreigntest.Files(t, map[string]string{"mine.json": "[" + one + "]"}), "mine.json"), foreign.Sure},
		"any name":           {foreigntest.Files(t, map[string]string{"mine.json": "[" + one + "]"}), foreign.No},
		"deep in a folder":   {foreigntest.Files(t, map[string]string{"a/b/c/conversations.json": "[" + one + "]"}), foreign.No},
		"Claude.ai":          {foreigntest.Files(t, map[string]string{"conversations.json": claude}), foreign.No},
		"empty list":         {foreigntest.Files(t, map[string]string{"conversations.json": "[]"}), foreign.No},
		"a list as mapping":  {foreigntest.Files(t, map[string]string{"conversations.json": `[{"title":"x","mapping":[]}]`}), foreign.No},
		"a map of something": {foreigntest.Files(t, map[string]string{"conversations.json": `[{"mapping":{}}]`}), foreign.No},
		"Markdown":           {foreigntest.Files(t, map[string]string{"conversations.md": "# mapping"}), foreign.No},
		"both programs":      {foreigntest.Files(t, map[string]string{"a/conversations.json": claude, "b/conversations.json": "[" + one + "]"}), foreign.Sure},
	} {
		tree := must.Get(foreign.Open(tc.source))(t)
		must.Equal(t, name, Format.Detect(tree), tc.want)
		must.Do(t, tree.Close())
	}
}

// A folder may hold the exports of two programs, whose files have the same name.
func TestFilesOfClaudeAreLeftAlone(t *testing.T) {
	t.Parallel()
	one := talk(t, "c", "a", nil, said("a", "root", "user", 1767225601, "x"))
	r := foreigntest.Read(t, Format, foreigntest.Files(t, map[string]string{
		"a/conversations.json": `[{"uuid":"u","name":"x","chat_messages":[]}]`, "b/conversations.json": "[" + one + "]",
	}))
	must.Equal(t, "all", r.Count(), 2)
	must.Equal(t, "skips", len(r.Skips), 0)
}

func itoa(n int) string { return strconv.Itoa(n) }
