package markdown

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// kept is what a file says that has no place in a memory.
type kept struct {
	Front     map[string]any `json:"front,omitempty"`
	Relations []relation     `json:"relations,omitempty"` // to no file of the folder, or with a context
}

// foreignOf returns what is kept of a page; nil for nothing.
func foreignOf(p *page, left []relation) any {
	k := kept{Front: map[string]any{}, Relations: left}
	for name, value := range p.front {
		switch {
		case name == "title", name == "type", name == "permalink", name == "tags", strings.HasPrefix(name, "amber_"):
		case name == "created", name == "modified":
			if at, err := foreign.TextIn(p.front.Text(name), time.Local); !p.exported && (err != nil || at.String() != p.front.Text(name)) {
				k.Front[name] = plain(value, 0)
			}
		default:
			k.Front[name] = plain(value, 0)
		}
	}
	if len(k.Front) == 0 && len(k.Relations) == 0 {
		return nil
	}
	return k
}

// plain returns a value of YAML as JSON can hold it.
func plain(v any, depth int) any {
	switch v := v.(type) {
	case nil, bool, string, int, int64, uint64:
		return v
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	case []any:
		if depth < maxNesting {
			out := make([]any, len(v))
			for i, e := range v {
				out[i] = plain(e, depth+1)
			}
			return out
		}
	case map[string]any:
		if depth < maxNesting {
			out := make(map[string]any, len(v))
			for name, e := range v {
				out[name] = plain(e, depth+1)
			}
			return out
		}
	}
	return fmt.Sprint(v)
}
