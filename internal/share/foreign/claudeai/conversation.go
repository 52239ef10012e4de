package claudeai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// conversation is one element of conversations.json.
type conversation struct {
	UUID      string    `json:"uuid"`
	Name      string    `json:"name"`
	Summary   string    `json:"summary"`
	CreatedAt moment    `json:"created_at"`
	UpdatedAt moment    `json:"updated_at"`
	Leaf      string    `json:"current_leaf_message_uuid"`
	Messages  []message `json:"chat_messages"`
}

type message struct {
	UUID        string          `json:"uuid"`
	Sender      string          `json:"sender"`
	Text        string          `json:"text"`
	Content     []foreign.Block `json:"content"`
	CreatedAt   moment          `json:"created_at"`
	Attachments []attachment    `json:"attachments"`
	Files       []attachment    `json:"files"`
	Parent      parent          `json:"parent_message_uuid"`
}

type attachment struct {
	Name string `json:"file_name"`
	Text string `json:"extracted_content"`
}

// parent is the message before. Old files do not name it.
type parent struct {
	given bool
	id    string // "" for the first message
}

// roots are the parents of first messages: no message has them.
var roots = []string{"00000000-0000-4000-8000-000000000000", "00000000-0000-0000-0000-000000000000"}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *parent) UnmarshalJSON(b []byte) error {
	*p = parent{given: true}
	if json.Unmarshal(b, &p.id) != nil || slices.Contains(roots, p.id) {
		p.id = ""
	}
	return nil
}

// moment is a time in text, which may be absent.
type moment struct {
	at  amber.Time
	err error // why it is none, though something is there
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *moment) UnmarshalJSON(b []byte) error {
	*m = moment{}
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	var text string
	if json.Unmarshal(b, &text) != nil {
		m.err = fmt.Errorf("time is %.40s, want text as in 2026-01-02T03:04:05Z", b)
	} else if text != "" {
		m.at, m.err = foreign.Text(text)
	}
	return nil
}

// span returns when the conversation began and ended. Any time in it may be missing.
func (c *conversation) span(file amber.Time) (began, ended amber.Time) {
	var said foreign.Span
	for _, m := range c.Messages {
		said.Add(m.CreatedAt.at)
	}
	return said.Dates(c.CreatedAt.at, c.UpdatedAt.at, file)
}

// chain returns the messages that led to the last one: those that were regenerated are siblings. Problem says why the
// beginning is missing; "" if it is there.
func (c *conversation) chain() (out []*message, problem string) {
	index, linked := make(map[string]int, len(c.Messages)), false
	for i, m := range c.Messages {
		if _, twice := index[m.UUID]; !twice {
			index[m.UUID] = i
		}
		linked = linked || m.Parent.given
	}
	if !linked {
		for i := range c.Messages {
			out = append(out, &c.Messages[i])
		}
		return out, ""
	}
	out, problem = c.walk(c.leaf(index), index)
	slices.Reverse(out)
	return out, problem
}

// walk goes from a message to the first one. A message of an old file follows the one before it in the list.
func (c *conversation) walk(i int, index map[string]int) (out []*message, problem string) {
	seen := make([]bool, len(c.Messages))
	for i >= 0 {
		m := &c.Messages[i]
		if seen[i] {
			return out, fmt.Sprintf("message %.60q comes before itself: messages before it are not read", m.UUID)
		}
		seen[i] = true
		out = append(out, m)
		known := true
		switch {
		case !m.Parent.given:
			i--
		case m.Parent.id == "":
			return out, ""
		default:
			i, known = index[m.Parent.id]
		}
		if !known {
			return out, fmt.Sprintf("message %.60q is missing: messages before it are not read", m.Parent.id)
		}
	}
	return out, ""
}

// leaf returns the message that the conversation has come to: the last one, or, in a list that is not in order, the newest
// without an answer.
func (c *conversation) leaf(index map[string]int) int {
	if i, ok := index[c.Leaf]; ok && c.Leaf != "" {
		return i
	}
	answered := map[string]bool{}
	for _, m := range c.Messages {
		answered[m.Parent.id] = true
	}
	best := len(c.Messages) - 1
	if !answered[c.Messages[best].UUID] {
		return best
	}
	found := false
	for i, m := range c.Messages {
		if !answered[m.UUID] && (!found || !m.CreatedAt.at.Before(c.Messages[best].CreatedAt.at)) {
			best, found = i, true
		}
	}
	return best
}

// text returns what a message says. Its blocks tell more than its text, which has marks where tools were used.
func (m *message) text() string {
	var texts []string
	for _, b := range m.Content {
		if (b.Type == "text" || b.Type == "voice_note") && strings.TrimSpace(b.Text) != "" {
			texts = append(texts, b.Text)
		}
	}
	if len(texts) == 0 && len(m.activity()) == 0 && strings.TrimSpace(m.Text) != "" {
		texts = append(texts, m.Text)
	}
	for _, f := range m.Files {
		same := func(a attachment) bool { return a.Name == f.Name && a.Text != "" }
		if f.Name != "" && !slices.ContainsFunc(m.Attachments, same) {
			texts = append(texts, "[file "+f.Name+"]")
		}
	}
	return strings.Join(texts, "\n\n")
}

// activity returns the tools that a message used.
func (m *message) activity() (out []amber.Activity) {
	ended := map[string]foreign.Outcome{}
	for _, b := range m.Content {
		if b.Type == "tool_result" {
			ended[b.ToolUseID] = foreign.Completed
			if b.IsError {
				ended[b.ToolUseID] = foreign.Failed
			}
		}
	}
	for _, b := range m.Content {
		if b.Type == "tool_use" && b.Name != "" {
			out = append(out, b.Activity("", ended[b.ID])...)
		}
	}
	return out
}
