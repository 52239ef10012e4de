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
	case s.Sessions != nil && s.Questions != nil:
		return parseTurns(raw)
	case s.Sessions != nil:
		return nil, amber.Errorf(amber.KindInvalid, readOp, "", "the file is a set of sessions, want a set of questions").WithHint("amber eval context SET")
	}
	return nil, errors.New("the shape is of no known format: want memories or sessions with questions, or LoCoMo as published")
}

// check returns an error for a case that no agent could be loaded with.
func (c *Case) check() error {
	if err := c.checkSize(); err != nil {
		return err
	}
	if err := checkTime("now", c.Now); err != nil {
		return err
	}
	for i, m := range c.Memories {
		if err := checkTime(fmt.Sprintf("memory %d", i+1), m.CreatedAt); err != nil {
			return err
		}
	}
	for i, s := range c.Sessions {
		if err := checkTime(fmt.Sprintf("session %d", i+1), s.At); err != nil {
			return err
		}
	}
	for i, q := range c.Questions {
		name := fmt.Sprintf("question %d", i+1)
		if err := amber.CheckText("question", q.Text, amber.MaxQueryBytes, amber.Required|amber.Lenient); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := checkTime(name, cmp.Or(q.At, c.Now)); err != nil {
			return err
		}
	}
	return nil
}

// checkSize refuses cases that hold too much, or nothing.
func (c *Case) checkSize() error {
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
	switch {
	case len(c.Memories)+turns == 0:
		return errors.New("the case has neither memories nor turns, want at least one")
	case len(c.Questions) == 0 && c.Skipped == 0:
		return errors.New("the case has no questions, want at least one")
	}
	return nil
}

// The first and the last year that the times of a set may be in.
const firstYear, lastYear = 1990, 2100

// checkTime refuses times that clocks do not show.
func checkTime(of string, at amber.Time) error {
	if y := at.Time().Year(); y < firstYear || y > lastYear {
		return fmt.Errorf("%s: the time is missing or not between the years %d and %d", of, firstYear, lastYear)
	}
	return nil
}
