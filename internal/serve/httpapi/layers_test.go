package httpapi_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// Recall finds the turns of a session for callers of its project, or for the session itself where it has no
// project, and never for a token of another agent.
func TestRecallOverLayersStaysWithItsProject(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	store := r.store("acme/ada")
	for session, project := range map[amber.SessionID]string{"s-shop": "acme/shop", "s-other": "acme/other", "s-none": ""} {
		must.Get(store.Sessions.StartSession(t.Context(), amber.SessionStart{ID: session, Project: project}))(t)
		turn := amber.Turn{SessionID: session, Role: amber.RoleUser, Content: "the kiln of " + string(session) + " overheats", ProjectID: project}
		must.Get(store.Turns.AppendTurn(t.Context(), turn))(t)
	}
	r.remember("the kiln is fired on Mondays")
	recall := func(token, body string) (sessions []string) {
		answer := r.ask(call{method: "POST", path: "recall", body: body, token: token})
		must.Equal(t, body, answer.status, 200)
		var found amber.RecallResult
		must.Do(t, json.Unmarshal(answer.body, &found))
		for _, h := range found.Hits {
			sessions = append(sessions, fmt.Sprint(h.Layer, " ", h.SessionID))
		}
		return sessions
	}
	for body, want := range map[string][]string{
		`{"text":"kiln overheats","layers":["exchange"],"project_id":"acme/shop"}`:                          {"exchange s-shop"},
		`{"text":"kiln overheats","layers":["exchange"],"project_id":"acme/other"}`:                         {"exchange s-other"},
		`{"text":"kiln overheats","layers":["exchange"],"session_id":"s-none"}`:                             {"exchange s-none"},
		`{"text":"kiln overheats","layers":["exchange"]}`:                                                   nil,
		`{"text":"kiln overheats","layers":["exchange"],"project_id":"acme/shop","min_score":1}`:            nil,
		`{"text":"kiln overheats","layers":["memory"],"project_id":"acme/shop","session_id":"s-elsewhere"}`: {"memory "},
	} {
		must.Equal(t, body, recall(adaRead, body), want)
	}
	for body, want := range map[string]int{`{"text":"kiln","layers":["dreams"]}`: 400, `{"text":"kiln","min_score":2}`: 400} {
		must.Equal(t, body, r.ask(call{method: "POST", path: "recall", body: body}).status, want)
	}
	foreign := r.ask(call{method: "POST", path: "/v1/tenants/default/agents/default/recall", body: `{"text":"kiln"}`, token: adaRead})
	must.Equal(t, "another agent", foreign.status, 404)
}
