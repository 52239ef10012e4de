package digest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/digest"
	"github.com/amber-memory/amber/internal/test/must"
)

// recorded is a session as hosts report it, with what the digest must hold afterwards: one of
// the strings of each Must, and all of Start when the next session begins. The files have the
// form that "amber eval context" reads.
type recorded struct {
	ID, Project string
	Events      []struct {
		Prompt   string
		Answer   string                   `json:"last_assistant_message"`
		Tool     struct{ Command string } `json:"tool_input"`
		Response struct{ Stderr string }  `json:"tool_response"`
	}
	Expect []struct {
		Prompt, Class string
		Must          []string
	}
	Start []string
}

// session returns what the rules read of it.
func (r recorded) session() digest.Session {
	s := digest.Session{ID: amber.SessionID(r.ID), Host: "h", Project: r.Project}
	for i, e := range r.Events {
		at := amber.UnixMilli(int64(i+1) * 1000)
		for role, text := range map[amber.Role]string{amber.RoleUser: e.Prompt, amber.RoleAssistant: e.Answer} {
			if text != "" {
				s.Turns = append(s.Turns, amber.Turn{ID: amber.TurnID(fmt.Sprint(role, i)), Role: role, Content: text, CreatedAt: at})
			}
		}
		if e.Tool.Command == "" {
			continue
		}
		a := amber.Activity{Kind: amber.ActivityCommand, Name: e.Tool.Command, Status: "completed", Count: 1, FirstAt: at, LastAt: at}
		if e.Response.Stderr != "" {
			a.Failed, a.Status = 1, "failed"
		}
		s.Activity = append(s.Activity, a)
	}
	return s
}

// bare is a text as it is compared: on one line, in lower case, without marks of Markdown.
func bare(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.NewReplacer("`", "", "*", "").Replace(s))), " ")
}

// holds reports whether a text has a string as whole words.
func holds(text, want string) bool {
	return regexp.MustCompile(`(^|[^\p{L}\p{N}_])` + regexp.QuoteMeta(bare(want)) + `($|[^\p{L}\p{N}_])`).MatchString(bare(text))
}

// Sessions of several worlds and styles: what the next session must know is among the items, and
// what it begins with is in the summary and the standing ones.
func TestRecordedSessions(t *testing.T) {
	t.Parallel()
	var set struct{ Sessions []recorded }
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join("testdata", "sessions.json")))(t), &set))
	var missed []string
	asked, begins := 0, 0
	for _, r := range set.Sessions {
		s := r.session()
		d := digest.Make(s)
		checkExtractive(t, s.Turns, d)
		var all, standing []string
		for _, it := range d.Items {
			if all = append(all, it.Text); it.Kind != digest.Cause && it.Kind != digest.Command {
				standing = append(standing, it.Text)
			}
		}
		for _, e := range r.Expect {
			found := false
			for _, want := range e.Must {
				found = found || holds(strings.Join(all, "\n"), want)
			}
			if asked++; !found {
				missed = append(missed, r.ID+" "+e.Class+": "+e.Prompt)
			}
		}
		for _, want := range r.Start {
			if begins++; !holds(d.Summary()+"\n"+strings.Join(standing, "\n"), want) {
				missed = append(missed, r.ID+" start: "+want)
			}
		}
	}
	// The digest misses what the user said in passing. Every rule that would find it would find as much that is
	// of no use.
	if asked < 80 || begins < 30 || len(missed) > 5 {
		t.Errorf("%d of %d strings are missed:\n%s", len(missed), asked+begins, strings.Join(missed, "\n"))
	}
}
