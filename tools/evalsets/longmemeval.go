package main

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

func parseLongMemEval(raw json.RawMessage) (*set, error) {
	var f longMemEvalFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	if len(f.Names) != len(f.Sessions) || len(f.Dates) != len(f.Sessions) {
		return nil, fmt.Errorf("haystack_sessions has %d sessions, haystack_session_ids %d and haystack_dates %d, want as many of each", len(f.Sessions), len(f.Names), len(f.Dates))
	}
	c := &set{}
	asked := question{Text: f.Question, Class: f.Type}
	if asked.Class == "" {
		return nil, fmt.Errorf("the question has no question_type")
	}
	var answers []string // turns
	for i, said := range f.Sessions {
		at, err := time.Parse(longMemEvalTime, strings.TrimSpace(f.Dates[i]))
		if err != nil {
			return nil, fmt.Errorf("the date of session %d is not like %q", i+1, longMemEvalTime)
		}
		s := session{ID: fmt.Sprintf("s%d", i+1), StartedAt: amber.At(at)}
		for j, t := range said {
			if strings.TrimSpace(t.Content) == "" {
				continue
			}
			id := fmt.Sprintf("s%d:%d", i+1, j+1)
			s.Turns = append(s.Turns, turn{ID: id, Role: roleOf(t.Role), Content: t.Content})
			if t.HasAnswer {
				answers = append(answers, id)
			}
		}
		c.Sessions = append(c.Sessions, s)
	}
	if at, err := time.Parse(longMemEvalTime, strings.TrimSpace(f.Date)); err == nil {
		asked.At = amber.At(at)
	}
	switch {
	case strings.HasSuffix(f.ID, "_abs"):
		asked.Class = abstention
	case len(answers) > 0:
		asked.Keys = answers
	default: // an older file marks sessions only
		asked.Sessions = f.positions()
	}
	c.Questions = []question{asked}
	return c, nil
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
