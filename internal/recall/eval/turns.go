package eval

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
)

// turnsFile is a set of conversations and questions. A program that converts a published
// set writes one for each agent.
type turnsFile struct {
	Now      amber.Time `json:"now"`
	Sessions []struct {
		ID        string     `json:"id"`
		StartedAt amber.Time `json:"started_at"`
		Turns     []struct {
			ID      string     `json:"id"`
			Role    amber.Role `json:"role"`
			Content string     `json:"content"`
		} `json:"turns"`
	} `json:"sessions"`
	Questions []struct {
		Text     string     `json:"q"`
		Class    string     `json:"class"`
		Keys     []string   `json:"keys"`
		Sessions []string   `json:"sessions"`
		At       amber.Time `json:"at"`
	} `json:"questions"`
}

// classAbstention is what published sets call questions without an answer.
const classAbstention = "abstention"

func parseTurns(raw json.RawMessage) (*Case, error) {
	var f turnsFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	c := &Case{Format: FormatTurns, Now: f.Now}
	turns, sessions := map[string]bool{}, map[string]bool{}
	for i, said := range f.Sessions {
		if _, twice := sessions[said.ID]; said.ID == "" || twice {
			return nil, fmt.Errorf("session %d has no id of its own", i+1)
		}
		s := Session{ID: amber.SessionID(said.ID), At: said.StartedAt}
		for _, t := range said.Turns {
			if _, twice := turns[t.ID]; t.ID == "" || twice {
				return nil, fmt.Errorf("a turn of session %d has no id of its own", i+1)
			}
			if t.Role != amber.RoleUser && t.Role != amber.RoleAssistant {
				return nil, fmt.Errorf("the role of a turn of session %d is not user or assistant", i+1)
			}
			before := len(s.Turns)
			s.add(t.ID, t.Role, t.Content)
			turns[t.ID] = len(s.Turns) > before
		}
		if sessions[said.ID] = len(s.Turns) > 0; sessions[said.ID] {
			c.Sessions = append(c.Sessions, s)
		}
	}
	c.settle()
	for _, q := range f.Questions {
		if q.Class == "" {
			return nil, errors.New("a question has no class")
		}
		question := Question{Text: q.Text, Class: q.Class, Rule: RuleEach, BySession: len(q.Sessions) > 0, At: q.At}
		if q.Class == classNone || q.Class == classAbstention {
			question.Rule = RuleNone
		}
		question.addAll(q.Keys, turns)
		if question.BySession {
			question.Keys = nil
			question.addAll(q.Sessions, sessions)
		}
		c.ask(question)
	}
	return c, c.check()
}
