package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/amber-memory/amber"
)

// ownNow is when the questions of a set are asked that does not say so.
var ownNow = amber.At(time.Date(2026, 11, 10, 20, 0, 0, 0, time.UTC))

// memoriesFile is a set of memories and questions.
type memoriesFile struct {
	Now      amber.Time `json:"now"`
	Memories []struct {
		Key       string     `json:"key"`
		Title     *string    `json:"title"`
		Content   string     `json:"content"`
		CreatedAt amber.Time `json:"created_at"`
		Kind      string     `json:"kind"`
	} `json:"memories"`
	Questions []struct {
		Text  string   `json:"q"`
		Class string   `json:"class"`
		Keys  []string `json:"keys"`
	} `json:"questions"`
}

// The classes of questions whose keys have a meaning of their own.
const (
	classTime  = "time"
	classMulti = "multi"
	classNone  = "none"
)

func parseMemories(raw json.RawMessage) (*Case, error) {
	var f memoriesFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	c := &Case{Format: FormatMemories, Now: f.Now}
	if c.Now.IsZero() {
		c.Now = ownNow
	}
	known := map[string]bool{}
	for i, m := range f.Memories {
		if m.Key == "" || known[m.Key] {
			return nil, fmt.Errorf("memory %d has no key of its own", i+1)
		}
		known[m.Key] = true
		title := ""
		if m.Title != nil {
			title = *m.Title
		}
		c.Memories = append(c.Memories, Memory{Key: m.Key, Title: title, Content: m.Content, Kind: amber.MemoryKind(m.Kind), CreatedAt: m.CreatedAt})
		if c.Now.Before(m.CreatedAt) {
			c.Now = m.CreatedAt
		}
	}
	for i, q := range f.Questions {
		rule, err := ownRule(q.Class, q.Keys, known)
		if err != nil {
			return nil, fmt.Errorf("question %d: %w", i+1, err)
		}
		c.Questions = append(c.Questions, Question{Text: q.Text, Class: q.Class, Rule: rule, Keys: q.Keys})
	}
	return c, c.check()
}

// ownRule is the rule of a class, with the keys checked that it needs.
func ownRule(class string, keys []string, known map[string]bool) (Rule, error) {
	if err := amber.CheckText("class", class, amber.MaxIDBytes, amber.Required|amber.OneLine); err != nil {
		return "", err
	}
	seen := map[string]bool{}
	for _, k := range keys {
		if !known[k] || seen[k] {
			return "", errors.New("a key is not that of a memory, or occurs twice")
		}
		seen[k] = true
	}
	want := func(ok bool, rule Rule, what string) (Rule, error) {
		if !ok {
			return "", fmt.Errorf("class %s has %d keys, want %s", class, len(keys), what)
		}
		return rule, nil
	}
	switch class {
	case classNone:
		return want(len(keys) == 0, RuleNone, "none")
	case classTime:
		return want(len(keys) == 2, RuleFirst, "the right one and the wrong one")
	case classMulti:
		return want(len(keys) >= 2, RuleAll, "two or more")
	}
	return want(len(keys) >= 1, RuleOne, "one or more")
}
