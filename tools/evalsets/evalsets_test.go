package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/recall/eval"
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

// cases converts a set and reads it as amber eval recall does.
func cases(t *testing.T, path string) (all []*eval.Case, err error) {
	t.Helper()
	var out bytes.Buffer
	if err := convert([]string{path}, &out); err != nil {
		return nil, err
	}
	r := must.Get(eval.Open(file(t, out.String())))(t)
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

const longMemEval = `[{"question_id": "q1", "question_type": "multi-session", "question": "Which?", "question_date": "2023/05/30 (Tue) 10:00",
	"haystack_session_ids": ["x", "y"], "haystack_dates": ["2023/05/21 (Sun) 02:21", "2023/05/20 (Sat) 02:21"],
	"haystack_sessions": [[{"role": "user", "content": "red"}, {"role": "assistant", "content": ""}, {"role": "assistant", "content": "ok", "has_answer": true}], [{"role": "user", "content": "blue"}]],
	"answer_session_ids": ["x"]},
 {"question_id": "q2_abs", "question_type": "multi-session", "question": "What?", "question_date": "",
	"haystack_session_ids": ["y"], "haystack_dates": ["2023/05/20 (Sat) 02:21"], "haystack_sessions": [[{"role": "user", "content": "blue"}]], "answer_session_ids": ["y"]},
 {"question_id": "q3", "question_type": "t", "question": "What?", "question_date": "",
	"haystack_session_ids": ["y"], "haystack_dates": ["2023/05/20 (Sat) 02:21"], "haystack_sessions": [[{"role": "user", "content": "blue"}]], "answer_session_ids": ["y", "z"]}]`

func TestLongMemEvalIsRead(t *testing.T) {
	t.Parallel()
	all := must.Get(cases(t, file(t, longMemEval)))(t)
	must.Equal(t, "cases", len(all), 3)
	c := all[0]
	must.Equal(t, "sessions by time", said(c.Sessions[0].ID, c.Sessions[1].ID, len(c.Sessions[1].Turns)), "s2 s1 2")
	q := c.Questions[0]
	must.Equal(t, "question", said(q.Class, q.Rule, q.Keys, q.BySession, q.At), "multi-session each [s1:3] false 2023-05-30T10:00:00.000Z")
	must.Equal(t, "abstention", said(all[1].Questions[0].Class, all[1].Questions[0].Rule), "abstention none")
	q = all[2].Questions[0]
	must.Equal(t, "evidence by session", said(q.Keys, q.BySession), "[s1] true")
}

const beamChat = `[{"batch_number": 1, "turns": [[{"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "plan"}, {"role": "assistant", "id": 1, "content": "sure"}], [{"role": "user", "id": 2, "content": "more"}]]},
	{"batch_number": 2, "turns": [[{"role": "user", "id": 3, "content": "next"}]]}]`

const beamProbing = `{"abstention": [{"question": "Who?"}], "knowledge_update": [{"question": "How many?", "source_chat_ids": {"original_info": [1], "updated_info": [3, 3, 99]}}], "event_ordering": [{"question": "Order?", "source_chat_ids": [2, 0]}, {"question": "Lost?", "source_chat_ids": []}]}`

func TestBEAMIsReadAsARowAndAsAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "probing_questions"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, "chat.json"), []byte(beamChat), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, "probing_questions", "probing_questions.json"), []byte(beamProbing), 0o600))
	python := strings.ReplaceAll(beamProbing, `"`, `'`)
	for name, path := range map[string]string{
		"folder": dir,
		"object": file(t, `{"conversation_id": "1", "chat": `+beamChat+`, "probing_questions": `+beamProbing+`}`),
		"text":   file(t, `[{"conversation_id": "1", "chat": `+beamChat+`, "probing_questions": `+fmt.Sprintf("%q", beamProbing)+`}]`),
		"python": file(t, `[{"conversation_id": "1", "chat": `+beamChat+`, "probing_questions": `+fmt.Sprintf("%q", python)+`}]`),
		"plans":  file(t, `{"chat": [{"plan-1": `+beamChat+`}], "probing_questions": `+beamProbing+`}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := must.Get(cases(t, path))(t)
			c := all[0]
			must.Equal(t, "cases", len(all), 1)
			must.Equal(t, "sessions", said(len(c.Sessions), c.Sessions[0].At, c.Sessions[1].At), "2 2024-03-15T00:00:00.000Z 2024-03-16T00:00:00.000Z")
			must.Equal(t, "turns", said(c.Sessions[0].Turns[2].ID, c.Sessions[1].Turns[0].ID, c.Sessions[0].Turns[1].Role), "m2 m3 assistant")
			got := fmt.Sprint(c.Skipped)
			for _, q := range c.Questions {
				got += " " + said(q.Class, q.Rule, q.Keys)
			}
			must.Equal(t, "questions", got, "1 abstention none [] event_ordering each [m2 m0] knowledge_update each [m1 m3]")
		})
	}
}

// In chats that were joined, an id names several messages: it proves nothing.
func TestBEAMLeavesOutEvidenceThatIsNotClear(t *testing.T) {
	t.Parallel()
	all := must.Get(cases(t, file(t, `{"chat": [[{"role": "user", "id": 1, "content": "a"}], [{"role": "user", "id": 1, "content": "b"}, {"role": "user", "id": 2, "content": "c"}]],
		"probing_questions": {"x": [{"question": "one?", "source_chat_ids": [1, 2]}, {"question": "two?", "source_chat_ids": [1]}]}}`)))(t)
	c := all[0]
	must.Equal(t, "keys and skipped", said(c.Questions[0].Keys, len(c.Questions), c.Skipped), "[m2] 1 1")
	must.Hold(t, c.Sessions[0].Turns[0].ID != c.Sessions[1].Turns[0].ID, "two turns have one id")
}

func TestSetsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"neither":                   `{"sessions": []}`,
		"cut off":                   longMemEval[:len(longMemEval)-20],
		"chat without questions":    `{"chat": ` + beamChat + `}`,
		"fewer dates than sessions": strings.Replace(longMemEval, `"haystack_dates": ["2023/05/21 (Sun) 02:21", `, `"haystack_dates": [`, 1),
		"a date that is none":       strings.Replace(longMemEval, `2023/05/21 (Sun) 02:21`, `x`, 1),
		"a message without id":      `{"chat": [[{"role": "user", "content": "x"}]], "probing_questions": ` + beamProbing + `}`,
		"messages nested deep":      `{"chat": [` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `], "probing_questions": ` + beamProbing + `}`,
		"questions that are none":   `{"chat": ` + beamChat + `, "probing_questions": "import os"}`,
	} {
		must.Error(t, name, must.Err(cases(t, file(t, text))))
	}
	must.Error(t, "no set", convert(nil, io.Discard))
	must.Error(t, "folder without a chat", convert([]string{t.TempDir()}, io.Discard))
}

func TestPythonLiterals(t *testing.T) {
	t.Parallel()
	got := must.Get(pythonToJSON(`{'a': [1, -2.5, None, True, False], "it's": ('x', "y\"z"), 'e': '\n\t\'\\\x41\u00e9\q', 'l': [1,],}`))(t)
	must.Equal(t, "JSON", string(got), `{"a":[1,-2.5,null,true,false],"it's":["x","y\"z"],"e":"\n\t'\\Aé\\q","l":[1]}`)
	for _, text := range []string{
		"", "{", "[1", "['a'", "'a", `'\`, `'\x4'`, `'\xzz'`, `'\U00110000'`, "{1: 2}", "{'a' 1}", "{'a': 1 'b': 2}", "[1] 2", "nan", "inf", "os.system('x')", "__import__",
		strings.Repeat("[", 100),
	} {
		must.Error(t, text, must.Err(pythonToJSON(text)))
	}
}
