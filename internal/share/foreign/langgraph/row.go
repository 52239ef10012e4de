package langgraph

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// rest is what of a row has no place in Amber.
type rest struct {
	Prefix    string         `json:"prefix"`
	Key       string         `json:"key"`
	Value     foreign.Object `json:"value,omitempty"` // but for the content
	ExpiresAt string         `json:"expires_at,omitempty"`
	Minutes   string         `json:"ttl_minutes,omitempty"`
}

func (r *reader) row(row foreign.Row) error {
	place := foreign.Place{File: r.file.Name, At: fmt.Sprintf("%s, row %d", table, row.N)}
	prefix, key := row.Text("prefix"), row.Text("key")
	sum := foreign.Digest(prefix, key)
	if r.seen[sum] {
		r.to.Skip(place, "%s %s is there before", prefix, key)
		return nil
	}
	m := foreign.Memory{
		Place: place, Key: foreign.Key{prefix, key}, Identities: amber.Identities{UserID: r.o.User, ProjectID: r.o.Project},
		Metadata: map[string]string{"namespace": prefix},
	}
	x := rest{Prefix: prefix, Key: key, ExpiresAt: row.Text("expires_at"), Minutes: row.Text("ttl_minutes")}
	var why string
	m.Content, x.Value, why = content([]byte(row.Text("value")))
	if err := m.TakeTimes(row.Text("created_at"), row.Text("updated_at")); err != nil {
		why = err.Error()
	}
	if why != "" {
		r.to.Skip(place, "%s", why)
		return nil
	}
	r.seen[sum] = true
	if kind, ok := x.Value["kind"].(string); ok && kind != "" {
		m.Metadata["kind"] = kind
	}
	if x.ExpiresAt != "" {
		m.Metadata["expires_at"] = x.ExpiresAt
	}
	m.Foreign = x
	return r.to.Memory(m)
}

// content returns the text of a value, what else the value says, and why it cannot be used.
func content(raw []byte) (text string, rest foreign.Object, why string) {
	v, err := foreign.ParseValue(raw)
	if err != nil {
		return "", nil, "value " + err.Error()
	}
	o, _ := v.(map[string]any)
	for _, name := range []string{"content", "memory", "text", "data"} {
		text, inner := said(o[name])
		if text == "" {
			continue
		}
		rest = foreign.Object(o).Without(name)
		if inner != nil {
			rest = foreign.Object(o).Without()
			rest[name] = inner
		}
		return text, rest, ""
	}
	if s, ok := v.(string); ok {
		text = s
	} else if text = string(foreign.JSON(v)); text == "{}" || text == "[]" || text == "null" {
		text = ""
	}
	if strings.TrimSpace(text) == "" {
		return "", nil, "the value is empty"
	}
	return text, nil, ""
}

// said returns a text: itself, the content of an object and what else the object says, or any other value as JSON.
func said(v any) (text string, rest foreign.Object) {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v), nil
	case map[string]any:
		if s, ok := v["content"].(string); ok && strings.TrimSpace(s) != "" {
			return strings.TrimSpace(s), foreign.Object(v).Without("content")
		}
		if len(v) > 0 {
			return string(foreign.JSON(v)), nil
		}
	case []any:
		if len(v) > 0 {
			return string(foreign.JSON(v)), nil
		}
	}
	return "", nil
}
