package eval

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
)

// shape is what tells the formats apart.
type shape struct {
	Memories     json.RawMessage `json:"memories"`
	Questions    json.RawMessage `json:"questions"`
	Sessions     json.RawMessage `json:"sessions"`
	Conversation json.RawMessage `json:"conversation"`
	QA           json.RawMessage `json:"qa"`
	Haystack     json.RawMessage `json:"haystack_sessions"`
	Chat         json.RawMessage `json:"chat"`
	Probing      json.RawMessage `json:"probing_questions"`
	Turns        json.RawMessage `json:"turns"`
}

// parseCase reads a case of any format.
func parseCase(raw json.RawMessage) (*Case, error) {
	var s shape
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, errors.New("a case is not a JSON object, want one of a known format")
	}
	switch {
	case s.Memories != nil && s.Questions != nil:
		return parseMemories(raw)
	case s.Conversation != nil && s.QA != nil:
		return parseLoCoMo(raw)
	case s.Haystack != nil:
		return parseLongMemEval(raw)
	case s.Chat != nil && s.Probing != nil:
		return parseBEAM(raw)
	case s.Sessions != nil:
		return nil, amber.Errorf(amber.KindInvalid, readOp, "", "the file is a set of sessions, want a set of questions").WithHint("amber eval context SET")
	case s.Turns != nil:
		return nil, amber.Errorf(amber.KindInvalid, readOp, "", "the file is a chat of BEAM without questions, want the folder that holds it")
	}
	return nil, errors.New("the shape is of no known format: want memories and questions, or LoCoMo, LongMemEval or BEAM as published")
}

// check returns an error for a case that no agent could be loaded with.
func (c *Case) check() error {
	turns := 0
	for _, s := range c.Sessions {
		turns += len(s.Turns)
	}
	for _, n := range []struct {
		what  string
		count int
	}{{"memories", len(c.Memories)}, {"turns", turns}, {"questions", len(c.Questions)}} {
		if n.count > maxItems {
			return fmt.Errorf("the case has %d %s, the limit is %d", n.count, n.what, maxItems)
		}
	}
	if len(c.Memories)+turns == 0 {
		return errors.New("the case has neither memories nor turns, want at least one")
	}
	if len(c.Questions) == 0 && c.Skipped == 0 {
		return errors.New("the case has no questions, want at least one")
	}
	if err := checkTime(c.Now); err != nil {
		return fmt.Errorf("now: %w", err)
	}
	for i, m := range c.Memories {
		if err := checkTime(m.CreatedAt); err != nil {
			return fmt.Errorf("memory %d: %w", i+1, err)
		}
	}
	for i, s := range c.Sessions {
		if err := checkTime(s.At); err != nil {
			return fmt.Errorf("session %d: %w", i+1, err)
		}
	}
	for i, q := range c.Questions {
		if err := amber.CheckText("question", q.Text, amber.MaxQueryBytes, amber.Required|amber.Lenient); err != nil {
			return fmt.Errorf("question %d: %w", i+1, err)
		}
		if err := checkTime(cmp.Or(q.At, c.Now)); err != nil {
			return fmt.Errorf("question %d: %w", i+1, err)
		}
	}
	return nil
}

// The years that a set may tell of.
const firstYear, lastYear = 1990, 2100

// checkTime refuses times that clocks do not show.
func checkTime(at amber.Time) error {
	if y := at.Time().Year(); y < firstYear || y > lastYear {
		return fmt.Errorf("the time is missing or not between the years %d and %d", firstYear, lastYear)
	}
	return nil
}
