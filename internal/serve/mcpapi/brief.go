package mcpapi

import (
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/shown"
)

// brief is a memory in a list, or a passage of something else.
type brief struct {
	ID        amber.MemoryID   `json:"id"` // "" where it is no memory
	Title     string           `json:"title,omitempty"`
	Kind      amber.MemoryKind `json:"kind"`
	Scope     amber.Scope      `json:"scope"`
	Snippet   string           `json:"snippet"`
	Truncated bool             `json:"truncated,omitempty"` // the snippet is not all of it
	Score     float64          `json:"score,omitempty"`
	Trust     amber.Trust      `json:"trust,omitempty"` // where it is not own
	UpdatedAt amber.Time       `json:"updated_at"`
	*passage
}

// passage says what a hit is that need not be a memory.
type passage struct {
	Layer   amber.RecallLayer `json:"layer"`
	Owner   string            `json:"owner"`
	Session amber.SessionID   `json:"session,omitempty"`
	Role    amber.Role        `json:"role,omitempty"`
	SaidAt  amber.Time        `json:"said_at"`
}

// briefsOfFound returns hits of every layer.
func briefsOfFound(hits []amber.Hit) []brief {
	out := briefsOfHits(hits)
	for i, h := range hits {
		layer := h.Layer
		if layer == "" { // of a server that knows memories alone
			layer = amber.LayerMemory
		}
		out[i].passage = &passage{Layer: layer, Owner: shown.OneLine(h.Owner, titleBytes), Session: h.SessionID, Role: h.Role, SaidAt: h.CreatedAt}
	}
	return out
}

const (
	titleBytes   = 200
	snippetBytes = 300
)

func briefsOfHits(hits []amber.Hit) []brief {
	out := make([]brief, len(hits))
	for i, h := range hits {
		snippet := shown.OneLine(h.Snippet, snippetBytes)
		out[i] = brief{
			ID: h.ID, Title: shown.OneLine(h.Title, titleBytes), Kind: h.Kind, Scope: h.Scope, Snippet: snippet,
			Truncated: len(snippet) < len(h.Content), Score: float64(int(h.Score*1000)) / 1000, Trust: foreign(h.Trust), UpdatedAt: h.UpdatedAt,
		}
	}
	return out
}

func briefsOf(ms []amber.Memory) []brief {
	out := make([]brief, len(ms))
	for i, m := range ms {
		snippet := shown.OneLine(m.Content, snippetBytes)
		out[i] = brief{
			ID: m.ID, Title: shown.OneLine(m.Title, titleBytes), Kind: m.Kind, Scope: m.Scope, Snippet: snippet,
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

func printBriefs(bs []brief, none string) string {
	if len(bs) == 0 {
		return none
	}
	var out strings.Builder
	for _, b := range bs {
		out.WriteString(b.heading())
		if b.Title != "" {
			out.WriteString(b.Title + ": ")
		}
		out.WriteString(b.Snippet + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// heading says what follows, and where it is from.
func (b brief) heading() string {
	p := b.passage
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
		from += ", session " + shown.OneLine(string(p.Session), titleBytes)
	}
	return fmt.Sprintf("[%s, %s%s] ", from, date(p.SaidAt), label(b.Trust))
}

func date(t amber.Time) string { return t.Time().Format(time.DateOnly) }
