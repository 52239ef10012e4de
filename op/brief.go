package op

import (
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/shown"
)

// Brief is a memory in a list, or a passage of something else.
type Brief struct {
	ID        amber.MemoryID   `json:"id"` // "" where it is no memory
	Title     string           `json:"title,omitempty"`
	Kind      amber.MemoryKind `json:"kind"`
	Scope     amber.Scope      `json:"scope"`
	Snippet   string           `json:"snippet"`
	Truncated bool             `json:"truncated,omitempty"` // the snippet is not all of it
	Score     float64          `json:"score,omitempty"`
	Trust     amber.Trust      `json:"trust,omitempty"` // where it is not own
	UpdatedAt amber.Time       `json:"updated_at"`
	*Passage
}

// Passage says what a hit is that need not be a memory.
type Passage struct {
	Layer   amber.RecallLayer `json:"layer"`
	Owner   string            `json:"owner"`
	Session amber.SessionID   `json:"session,omitempty"`
	Role    amber.Role        `json:"role,omitempty"`
	SaidAt  amber.Time        `json:"said_at"`
}

// briefsOfFound returns hits of every layer.
func briefsOfFound(hits []amber.Hit) []Brief {
	out := BriefsOfHits(hits)
	for i, h := range hits {
		layer := h.Layer
		if layer == "" { // of a server that knows memories alone
			layer = amber.LayerMemory
		}
		out[i].Passage = &Passage{Layer: layer, Owner: shown.OneLine(h.Owner, TitleBytes), Session: h.SessionID, Role: h.Role, SaidAt: h.CreatedAt}
	}
	return out
}

// MemoryURI begins the URI of a memory.
const MemoryURI = "amber://memory/"

// Bounds of texts in lists.
const (
	TitleBytes   = 200
	SnippetBytes = 300
)

// BriefsOfHits returns hits that are memories.
func BriefsOfHits(hits []amber.Hit) []Brief {
	out := make([]Brief, len(hits))
	for i, h := range hits {
		snippet := shown.OneLine(h.Snippet, SnippetBytes)
		out[i] = Brief{
			ID: h.ID, Title: shown.OneLine(h.Title, TitleBytes), Kind: h.Kind, Scope: h.Scope, Snippet: snippet,
			Truncated: len(snippet) < len(h.Content), Score: float64(int(h.Score*1000)) / 1000, Trust: foreign(h.Trust), UpdatedAt: h.UpdatedAt,
		}
	}
	return out
}

// BriefsOf returns memories as they stand in a list.
func BriefsOf(ms []amber.Memory) []Brief {
	out := make([]Brief, len(ms))
	for i, m := range ms {
		snippet := shown.OneLine(m.Content, SnippetBytes)
		out[i] = Brief{
			ID: m.ID, Title: shown.OneLine(m.Title, TitleBytes), Kind: m.Kind, Scope: m.Scope, Snippet: snippet,
			Truncated: len(snippet) < len(m.Content), Trust: foreign(m.Trust), UpdatedAt: m.UpdatedAt,
		}
	}
	return out
}

// foreign is the trust of what is not one's own.
func foreign(t amber.Trust) amber.Trust {
	if t == amber.TrustOwn {
		return ""
	}
	return t
}

// label says that a memory is not one's own.
func label(t amber.Trust) string {
	if foreign(t) == "" {
		return ""
	}
	return ", " + string(t)
}

// PrintBriefs is the text of a list of memories, or none when it is empty.
func PrintBriefs(bs []Brief, none string) string {
	lines := make([]string, len(bs))
	for i, b := range bs {
		lines[i] = b.heading() + b.Snippet
		if b.Title != "" {
			lines[i] = b.heading() + b.Title + ": " + b.Snippet
		}
	}
	return Lines(lines, none)
}

// heading says what follows, and where it is from.
func (b Brief) heading() string {
	p := b.Passage
	if p == nil || p.Layer == amber.LayerMemory {
		return fmt.Sprintf("%s [%s, %s%s] ", b.ID, b.Kind, date(b.UpdatedAt), label(b.Trust))
	}
	from := string(p.Layer)
	if p.Role != "" {
		from += " of " + string(p.Role)
	}
	switch {
	case p.Layer == amber.LayerNote:
		from += " " + p.Owner
	case p.Session != "":
		from += ", session " + shown.OneLine(string(p.Session), TitleBytes)
	}
	return fmt.Sprintf("[%s, %s%s] ", from, date(p.SaidAt), label(b.Trust))
}

func date(t amber.Time) string { return t.Time().Format(time.DateOnly) }

// Lines is the text of a list, or none when it is empty.
func Lines(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, "\n")
}
