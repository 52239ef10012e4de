package eval

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// file writes a file and returns its path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "set.json")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// said is values with a space between each two.
func said(values ...any) string { return strings.TrimSuffix(fmt.Sprintln(values...), "\n") }

// cases reads every case of a file.
func cases(t *testing.T, path string) (all []*Case, err error) {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { must.Do(t, r.Close()) }()
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
}

// one reads a file with one case.
func one(t *testing.T, text string) *Case {
	t.Helper()
	all := must.Get(cases(t, file(t, text)))(t)
	if len(all) != 1 {
		t.Fatalf("%d cases, want 1", len(all))
	}
	return all[0]
}

const memories = `{"memories": [
	{"key": "a", "title": "A", "content": "alpha", "created_at": "2026-01-02T03:04:05Z", "kind": "project_fact"},
	{"key": "b", "title": null, "content": "beta", "created_at": "2026-02-02T03:04:05+01:00", "kind": "constraint"}],
 "questions": [
	{"q": "which?", "class": "paraphrase", "keys": ["a"]}, {"q": "now?", "class": "time", "keys": ["b", "a"]},
	{"q": "both?", "class": "multi", "keys": ["a", "b"]}, {"q": "else?", "class": "none", "keys": []}]}`

func TestMemoriesAreRead(t *testing.T) {
	t.Parallel()
	c := one(t, memories)
	must.Equal(t, "format", c.Format, FormatMemories)
	must.Equal(t, "now", c.Now.String(), "2026-11-10T20:00:00.000Z")
	must.Equal(t, "second memory", fmt.Sprintf("%+v", c.Memories[1]), "{Key:b Title: Content:beta Kind:constraint CreatedAt:2026-02-02T02:04:05.000Z}")
	rules := ""
	for _, q := range c.Questions {
		rules += string(q.Rule) + " "
	}
	must.Equal(t, "rules", rules, "one first all none ")
	later := one(t, strings.Replace(memories, `{"memories"`, `{"now": "2026-01-20T00:00:00Z", "memories"`, 1))
	must.Equal(t, "now is not before what is known", later.Now.String(), "2026-02-02T02:04:05.000Z")
}

const locomo = `[{"sample_id": "conv-1", "conversation": {"speaker_a": "Ann", "speaker_b": "Bo",
	"session_2_date_time": "9:05 am on 3 June, 2023", "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "", "blip_caption": "a cat"}],
	"session_10": [], "session_10_date_time": "soon",
	"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "Hello"}, {"speaker": "Bo", "dia_id": "D1:2", "text": "Hi"}]},
 "qa": [{"question": "Who?", "answer": 7, "evidence": ["D1:2; D2:01", "D9:9"], "category": 1},
	{"question": "When?", "evidence": ["D:1:1"], "category": 5, "adversarial_answer": "x"},
	{"question": "Why?", "evidence": ["D"], "category": 2}, {"question": "New?", "evidence": ["D1:1"], "category": 6}]}]`

func TestLoCoMoIsRead(t *testing.T) {
	t.Parallel()
	c := one(t, locomo)
	must.Equal(t, "format", c.Format, FormatLoCoMo)
	must.Equal(t, "sessions", said(len(c.Sessions), c.Sessions[0].ID, c.Sessions[0].At, c.Sessions[1].ID), "2 session_1 2023-05-08T13:56:00.000Z session_2")
	must.Equal(t, "turns", said(c.Sessions[0].Turns, c.Sessions[1].Turns),
		"[{D1:1 user Ann: Hello 2023-05-08T13:56:00.000Z} {D1:2 assistant Bo: Hi 2023-05-08T13:56:10.000Z}] [{D2:1 assistant Bo: [shares a picture: a cat] 2023-06-03T09:05:00.000Z}]")
	must.Equal(t, "now", c.Now.String(), "2023-06-03T10:05:00.000Z")
	must.Equal(t, "skipped", c.Skipped, 1)
	must.Equal(t, "questions", said(c.Questions[0].Keys, c.Questions[0].Class, c.Questions[1].Keys, c.Questions[1].NoAnswer, c.Questions[2].Class), "[D1:2 D2:1] multi-hop [D1:1] true category 6")
}

const turns = `{"sessions": [
	{"id": "late", "started_at": "2023-05-21T02:21:00Z", "turns": [{"id": "2", "role": "user", "content": "red"}, {"id": "3", "role": "assistant", "content": " "}]},
	{"id": "early", "started_at": "2023-05-20T02:21:00Z", "turns": [{"id": "1", "role": "assistant", "content": "blue"}]}, {"id": "empty", "turns": []}],
 "questions": [{"q": "Which?", "class": "fact", "keys": ["2", "3", "9"], "at": "2023-05-30T10:00:00Z"}, {"q": "When?", "class": "fact", "sessions": ["early", "empty"]},
	{"q": "Who?", "class": "abstention"}, {"q": "Where?", "class": "fact", "keys": ["9"]}]}`

func TestConversationsAreRead(t *testing.T) {
	t.Parallel()
	c := one(t, turns)
	must.Equal(t, "case", said(c.Format, c.Now, c.Skipped), "turns 2023-05-21T03:21:00.000Z 1")
	must.Equal(t, "sessions by time", said(len(c.Sessions), c.Sessions[0].ID, c.Sessions[1].Turns), "2 early [{2 user red 2023-05-21T02:21:00.000Z}]")
	got := ""
	for _, q := range c.Questions {
		got += said(q.Class, q.Rule, q.Keys, q.BySession, q.At.IsZero()) + "; "
	}
	must.Equal(t, "questions", got, "fact each [2] false false; fact each [early] true true; abstention none [] false true; ")
}

func TestTurnsWithoutTextAreLeftOut(t *testing.T) {
	t.Parallel()
	s := Session{}
	s.add("a", amber.RoleUser, "\x00 \x00")
	s.add("b", amber.RoleUser, "x\x00y")
	must.Equal(t, "turns", said(len(s.Turns), s.Turns[0].ID, s.Turns[0].Content), "1 b xy")
}

func TestLinesOfJSONAreCases(t *testing.T) {
	t.Parallel()
	line := strings.ReplaceAll(memories, "\n", " ")
	all := must.Get(cases(t, file(t, "\n"+line+"\n"+line+"\n")))(t)
	must.Equal(t, "cases", len(all), 2)
}

func TestHostileSetsAreRefused(t *testing.T) {
	t.Parallel()
	replaced := func(text, old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("%q is not in the set", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	for name, text := range map[string]string{
		"empty":                     "",
		"white space":               " \n",
		"text":                      "hello",
		"a list of numbers":         "[1]",
		"no known shape":            `{"a": 1}`,
		"cut off":                   memories[:len(memories)-1],
		"cut off list":              locomo[:len(locomo)-1],
		"more after the list":       locomo + "[]",
		"deep":                      strings.Repeat("[", 20000),
		"sessions":                  `{"sessions": []}`,
		"memories of text":          `{"memories": "x", "questions": []}`,
		"no questions":              `{"memories": [{"key": "a", "content": "x", "created_at": "2026-01-01T00:00:00Z"}], "questions": []}`,
		"no memories":               `{"memories": [], "questions": [{"q": "x", "class": "none", "keys": []}]}`,
		"a key twice":               replaced(memories, `"key": "b"`, `"key": "a"`),
		"no time":                   replaced(memories, `"2026-01-02T03:04:05Z"`, `null`),
		"a time that is none":       replaced(memories, `"2026-01-02T03:04:05Z"`, `"yesterday"`),
		"a time long ago":           replaced(memories, `"2026-01-02T03:04:05Z"`, `"1901-01-02T03:04:05Z"`),
		"a time far ahead":          replaced(memories, `"2026-01-02T03:04:05Z"`, `"9999-01-02T03:04:05Z"`),
		"a session long ago":        replaced(locomo, `8 May, 2023`, `8 May, 1023`),
		"now far ahead":             replaced(memories, `{"memories"`, `{"now": "9999-01-02T03:04:05Z", "memories"`),
		"asked long ago":            replaced(turns, `2023-05-30T`, `0001-05-30T`),
		"a session twice":           replaced(turns, `"early"`, `"late"`),
		"a session without id":      replaced(turns, `"early"`, `""`),
		"an id of two turns":        replaced(turns, `"id": "1"`, `"id": "2"`),
		"a role that is none":       replaced(turns, `"role": "user"`, `"role": "tool"`),
		"a question without class":  replaced(turns, `"abstention"`, `""`),
		"an unknown key":            replaced(memories, `"keys": ["a"]`, `"keys": ["z"]`),
		"no key":                    replaced(memories, `"keys": ["a"]`, `"keys": []`),
		"none with a key":           replaced(memories, `"keys": []`, `"keys": ["a"]`),
		"time with one key":         replaced(memories, `"keys": ["b", "a"]`, `"keys": ["b"]`),
		"multi with one key":        replaced(memories, `"keys": ["a", "b"]`, `"keys": ["a"]`),
		"a class of two lines":      replaced(memories, `"paraphrase"`, `"a\nb"`),
		"an empty question":         replaced(memories, `"which?"`, `" "`),
		"a huge question":           replaced(memories, `"which?"`, `"`+strings.Repeat("x", amber.MaxQueryBytes+1)+`"`),
		"a turn twice":              replaced(locomo, `"D1:2", "text"`, `"D1:1", "text"`),
		"a turn without id":         replaced(locomo, `"D1:2", "text"`, `"1", "text"`),
		"a session without time":    replaced(locomo, `"1:56 pm on 8 May, 2023"`, `"then"`),
		"no speaker":                replaced(locomo, `"speaker_a": "Ann", `, ``),
		"a session that is no list": replaced(locomo, `"session_10": []`, `"session_10": 5`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := cases(t, file(t, text))
			must.Kind(t, name, err, amber.KindInvalid, "set.json")
		})
	}
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	t.Parallel()
	_, err := Open(filepath.Join(t.TempDir(), "missing"))
	must.Kind(t, "missing file", err, amber.KindNotFound)
	_, err = Open(t.TempDir())
	must.Kind(t, "folder", err, amber.KindInvalid)
	_, err = Open(os.DevNull)
	must.Kind(t, "device", err, amber.KindInvalid)
	_, err = openFile(file(t, "12345"), 4)
	must.Kind(t, "large file", err, amber.KindInvalid, "5 bytes", "limit is 4")
}

func TestACaseThatIsTooLargeIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	b := &bounded{r: strings.NewReader("123456"), left: 4}
	got, err := io.ReadAll(b)
	must.Equal(t, "read", string(got), "1234")
	must.Is(t, "error", err, errCaseTooLarge)
}

func FuzzCases(f *testing.F) {
	for _, text := range []string{memories, locomo, turns} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCase(data)
		if err != nil {
			return
		}
		for _, q := range c.Questions {
			if q.Rule != RuleNone && len(q.Keys) == 0 {
				t.Errorf("a question of class %q has no key", q.Class)
			}
		}
		for _, s := range c.Sessions {
			if len(s.Turns) == 0 {
				t.Errorf("session %s has no turn", s.ID)
			}
		}
	})
}
