package eval

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// longMemEvalFile is one question of LongMemEval with its history.
type longMemEvalFile struct {
	ID       string   `json:"question_id"`
	Type     string   `json:"question_type"`
	Question string   `json:"question"`
	Date     string   `json:"question_date"`
	Names    []string `json:"haystack_session_ids"`
	Dates    []string `json:"haystack_dates"`
	Sessions [][]struct {
		Role      string `json:"role"`
		Content   string `json:"content"`
		HasAnswer bool   `json:"has_answer"`
	} `json:"haystack_sessions"`
	Answers []string `json:"answer_session_ids"`
}

// longMemEvalTime is how LongMemEval writes times.
const longMemEvalTime = "2006/01/02 (Mon) 15:04"

func parseLongMemEval(raw json.RawMessage) (*Case, error) {
	var f longMemEvalFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	if len(f.Names) != len(f.Sessions) || len(f.Dates) != len(f.Sessions) {
		return nil, fmt.Errorf("haystack_sessions has %d sessions, haystack_session_ids %d and haystack_dates %d, want as many of each", len(f.Sessions), len(f.Names), len(f.Dates))
	}
	c := &Case{Format: FormatLongMemEval, Name: f.ID}
	question := Question{Text: f.Question, Class: f.Type, Rule: RuleEach}
	if question.Class == "" {
		return nil, fmt.Errorf("the question has no question_type")
	}
	turns, sessions := map[string]bool{}, map[string]bool{}
	var answers []string // turns
	for i, said := range f.Sessions {
		at, err := time.Parse(longMemEvalTime, strings.TrimSpace(f.Dates[i]))
		if err != nil {
			return nil, fmt.Errorf("the date of session %d is not like %q", i+1, longMemEvalTime)
		}
		s := Session{ID: amber.SessionID(fmt.Sprintf("s%d", i+1)), At: amber.At(at)}
		for j, t := range said {
			if strings.TrimSpace(t.Content) == "" {
				continue
			}
			id := fmt.Sprintf("s%d:%d", i+1, j+1)
			turns[id] = true
			s.add(id, roleOf(t.Role), t.Content)
			if t.HasAnswer {
				answers = append(answers, id)
			}
		}
		if len(s.Turns) > 0 {
			c.Sessions = append(c.Sessions, s)
			sessions[string(s.ID)] = true
		}
	}
	c.settle()
	if at, err := time.Parse(longMemEvalTime, strings.TrimSpace(f.Date)); err == nil {
		question.At = amber.At(at)
	}
	switch {
	case strings.HasSuffix(f.ID, "_abs"):
		question.Class, question.Rule = "abstention", RuleNone
	case len(answers) > 0:
		question.addAll(answers, turns)
	default: // an older file marks sessions only
		question.BySession = true
		question.addAll(f.positions(), sessions)
	}
	c.ask(question)
	return c, c.check()
}

// addAll adds keys that the conversation knows.
func (q *Question) addAll(keys []string, known map[string]bool) {
	for _, k := range keys {
		q.add(k, known)
	}
}

// positions returns the sessions that hold the answer, as they are named here.
func (f longMemEvalFile) positions() (names []string) {
	for _, a := range f.Answers {
		for i, name := range f.Names {
			if name == a {
				names = append(names, fmt.Sprintf("s%d", i+1))
			}
		}
	}
	return names
}

// roleOf takes every speaker but the user for the assistant.
func roleOf(role string) amber.Role {
	if role == string(amber.RoleUser) {
		return amber.RoleUser
	}
	return amber.RoleAssistant
}
