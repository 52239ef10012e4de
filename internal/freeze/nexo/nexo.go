// Package nexo reads and writes the databases of nexo, the SQLite files of a
// bundle in the format nexo-memory-snapshot-v1. It knows nexo's tables; on the
// other side is the memory.db of an agent. docs/format/bundle.md
// describes the tables.
package nexo

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

// The databases of a bundle in the format nexo-memory-snapshot-v1.
const (
	LongTerm    = "long_term.sqlite"
	Vector      = "vector.sqlite"
	Concepts    = "concepts.sqlite"
	Compactions = "compactions.sqlite"
)

// Count says how many there are of something that did not come over.
type Count struct {
	What  string // "earlier revisions"
	Count int64
}

// tally counts by word.
type tally map[string]int64

func (c tally) add(what string, n int64) {
	if n > 0 {
		c[what] += n
	}
}

func (c tally) list() []Count {
	list := make([]Count, 0, len(c))
	for _, what := range slices.Sorted(maps.Keys(c)) {
		list = append(list, Count{what, c[what]})
	}
	return list
}

// types are the values of memory_type and the kinds they become.
var types = map[string]amber.MemoryKind{
	"user":      amber.UserPreference,
	"feedback":  amber.WorkflowInsight,
	"project":   amber.ProjectFact,
	"reference": amber.WorkspaceFact,
}

// typeOf returns the memory_type of a memory, "" for none: the one it came
// with, if its kind is still what that became.
func typeOf(m amber.Memory) string {
	var came origin
	if json.Unmarshal(m.Foreign[foreignKey], &came) == nil {
		if kind, known := types[came.MemoryType]; known && kind == m.Kind {
			return came.MemoryType
		}
	}
	switch m.Kind {
	case amber.UserPreference, amber.UserFact:
		return "user"
	case amber.Constraint, amber.WorkflowInsight:
		return "feedback"
	case amber.ProjectFact:
		return "project"
	}
	return ""
}

// foreignKey is the name under which a memory keeps what only nexo knows.
const foreignKey = "nexo"

// origin is what a memory keeps of the row it came from.
type origin struct {
	ID         string `json:"id,omitempty"` // where it was no UUID
	MemoryType string `json:"memory_type,omitempty"`
	// Concepts are the concept tags in nexo's order, the most telling first, where
	// that is not the order of the alphabet. Amber keeps a set of them.
	Concepts []string `json:"concept_tags,omitempty"`
}

// inOrder puts concepts into the order they came in; those that came later
// stay behind.
func inOrder(foreign json.RawMessage, concepts []string) []string {
	var came origin
	if json.Unmarshal(foreign, &came) != nil || len(came.Concepts) == 0 {
		return concepts
	}
	place := func(c string) int {
		if at := slices.Index(came.Concepts, c); at >= 0 {
			return at
		}
		return len(came.Concepts)
	}
	concepts = slices.Clone(concepts)
	slices.SortStableFunc(concepts, func(a, b string) int { return place(a) - place(b) })
	return concepts
}

// defaultModel is the model of a vector that came without one.
const defaultModel = "nexo"

// defaultBinding is the binding of a session that came without one.
const defaultBinding = "nexo"

// uuidOf returns id, or a UUID made of it where it is not one: nexo knows no
// other names. The argument what keeps the names of different things apart.
func uuidOf(what, id string) string {
	if _, err := amber.ParseMemoryID(id); err == nil {
		return id
	}
	h := sha256.New()
	io.WriteString(h, "amber nexo 1\x00"+what+"\x00"+id)
	b := h.Sum(nil)[:16]
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80 // version 8, of a form of our own
	s := hex.EncodeToString(b)
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// maxTime is the last millisecond that RFC 3339 can write.
const maxTime = 253402300799999

func isTime(ms int64) bool { return ms > 0 && ms <= maxTime }

// Values of amber_fields in rows. Each is believed only where it fits its row.
type (
	memoryFields struct {
		amber.Memory      // without content
		Titled       bool `json:"titled,omitempty"` // the content of the row begins with the title
	}
	turnFields struct {
		ID        amber.TurnID    `json:"id"`
		SessionID amber.SessionID `json:"session_id"`
		ProjectID string          `json:"project_id,omitempty"`
		Trust     amber.Trust     `json:"trust,omitempty"`
	}
	compactionFields struct {
		ID        string          `json:"id"`
		SessionID amber.SessionID `json:"session_id"`
		CreatedAt amber.Time      `json:"created_at"`
	}
)

// The kinds of rows in amber_fields.
const (
	fieldsMemory     = "memory"
	fieldsTurn       = "turn"
	fieldsSession    = "session"
	fieldsRelation   = "relation"
	fieldsCompaction = "compaction"
)

// titleBreak is between a title and the content below it.
const titleBreak = "\n\n"

// byCount orders what there is most of first.
func byCount(x, y Count) int {
	return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.What, y.What))
}
