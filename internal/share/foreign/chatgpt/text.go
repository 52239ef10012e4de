package chatgpt

import (
	"strings"

	"github.com/amber-memory/amber"
)

// Types of content.
const (
	typeText           = "text"
	typeMultimodal     = "multimodal_text"
	typeCode           = "code"
	typeOutput         = "execution_output"
	typeQuote          = "tether_quote"
	typeMemories       = "model_editable_context"
	typeInstructions   = "user_editable_context"
	recipientMemory    = "bio"
	markStart, markEnd = "\ue200", "\ue201" // around a citation
)

// dropped are the types of content that neither the user nor the model said: thoughts of the model, errors of the
// program, the state of its browser.
var dropped = map[string]bool{
	"thoughts": true, "reasoning_recap": true, "system_error": true, "tether_browsing_display": true,
	typeMemories: true, typeInstructions: true,
}

var roles = map[string]amber.Role{
	"user": amber.RoleUser, "assistant": amber.RoleAssistant, "system": amber.RoleSystem, "tool": amber.RoleTool,
}

// isMemory reports whether a message is a call that saves a memory.
func (m *message) isMemory() bool {
	return m.Author.Role == "assistant" && m.Recipient == recipientMemory
}

// isSilent reports whether a message is no part of what was said.
func (m *message) isSilent() bool {
	answer := m.Author.Role == "tool" && (m.Author.Name == recipientMemory || m.text() == "Model set context updated.")
	return m.Metadata.Hidden || dropped[m.Content.Type] || m.isMemory() || answer
}

// role returns the role of the author; "" where the author is not known.
func (m *message) role() amber.Role {
	if m.Content.Type == typeOutput || m.Content.Type == typeQuote {
		return amber.RoleTool
	}
	return roles[m.Author.Role]
}

// text returns what a message says. A type that is not known may have parts or a text, too.
func (m *message) text() string {
	c := &m.Content
	switch c.Type {
	case typeText, typeMultimodal:
		return c.joined()
	case typeCode, typeOutput:
		return c.Text
	case typeQuote:
		return lines(c.Title, c.URL, c.Text)
	}
	if text := c.joined(); text != "" {
		return text
	}
	return c.Text
}

// joined returns the parts of a content, each on lines of its own.
func (c *content) joined() string {
	if len(c.Parts) == 1 {
		return partText(c.Parts[0])
	}
	texts := make([]string, len(c.Parts))
	for i, p := range c.Parts {
		texts[i] = partText(p)
	}
	return lines(texts...)
}

func lines(texts ...string) string {
	var kept []string
	for _, s := range texts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, "\n")
}

// partText returns a part that is text, and the kind of file that another part points to.
func partText(p any) string {
	if text, ok := p.(string); ok {
		return unmarked(text)
	}
	object, _ := p.(map[string]any)
	if text, ok := object["text"].(string); ok { // what was heard
		return unmarked(text)
	}
	kind, _ := object["content_type"].(string)
	for _, word := range []string{"image", "video", "audio"} {
		if strings.Contains(kind, word) {
			return "[" + word + "]"
		}
	}
	return ""
}

// unmarked returns a text without its citations, which point into a list that is not exported.
func unmarked(s string) string {
	if !strings.Contains(s, markStart) {
		return s
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, markStart)
		_, after, closed := strings.Cut(rest, markEnd)
		if !found || !closed {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(before)
		s = after
	}
}
