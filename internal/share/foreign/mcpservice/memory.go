package mcpservice

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// row is a row of the table or of an export.
type row interface {
	Text(columns ...string) string
	Number(column string) (float64, bool)
}

// defaultStore is the store of rows that name none.
const defaultStore = "default"

func keyOf(r row) foreign.Key {
	return foreign.Key{cmp.Or(r.Text("store"), defaultStore), r.Text("content_hash")}
}

// memory returns the memory of a row. The error says why there is none.
func memory(r row, o foreign.Options) (m foreign.Memory, err error) {
	m = foreign.Memory{
		Key: keyOf(r), Kind: kindOf(r.Text("memory_type")), Content: r.Text("content"), Tags: tags(r),
		Identities: amber.Identities{ProjectID: o.Project},
	}
	switch {
	case m.Key[1] == "":
		return m, fmt.Errorf("memory has no content_hash")
	case strings.TrimSpace(m.Content) == "":
		return m, fmt.Errorf("memory has no content")
	}
	for _, t := range []struct {
		column string
		into   *amber.Time
	}{{"created_at", &m.CreatedAt}, {"updated_at", &m.UpdatedAt}, {"deleted_at", &m.DeletedAt}} {
		if *t.into, err = timeOf(r, t.column); err != nil {
			return m, fmt.Errorf("%s: %w", t.column, err)
		}
	}
	fields := kept(r)
	if more := meta(&m, r); len(more) > 0 {
		fields["metadata"] = more
	}
	m.Foreign = fields
	return m, nil
}

// timeOf returns a time that is kept twice: as seconds, which count, and as text. It is zero where there is none.
func timeOf(r row, column string) (amber.Time, error) {
	if s, ok := r.Number(column); ok {
		return foreign.Seconds(s)
	}
	for _, c := range []string{column, column + "_iso"} {
		if s := r.Text(c); s != "" {
			return foreign.Text(s)
		}
	}
	return amber.Time{}, nil
}

func kindOf(typ string) amber.MemoryKind {
	switch strings.ToLower(strings.TrimSpace(typ)) {
	case "decision":
		return amber.ProjectFact
	case "learning", "pattern":
		return amber.WorkflowInsight
	case "error":
		return amber.HistoricalCase
	}
	return amber.WorkspaceFact
}

// tags returns the tags, which are a list or one text, without those that the program adds by itself.
func tags(r row) []string {
	list := strings.Split(r.Text("tags"), ",")
	if m, ok := r.(foreign.Fields); ok && r.Text("tags") == "" {
		list = m.Texts("tags")
	} else if sub := (foreign.Fields{"": []byte(r.Text("tags"))}); strings.HasPrefix(r.Text("tags"), "[") {
		list = sub.Texts("")
	}
	var out []string
	for _, t := range list {
		if t = strings.TrimSpace(t); t != "" && t != "untagged" && !strings.HasPrefix(t, "source:") {
			out = append(out, t)
		}
	}
	return out
}

// meta takes the metadata over and returns the part that is no text.
func meta(m *foreign.Memory, r row) (more foreign.Fields) {
	sub, ok := foreign.ParseFields([]byte(r.Text("metadata")))
	if x, isFields := r.(foreign.Fields); isFields && !ok {
		sub = x.Sub("metadata")
	}
	texts, more := sub.Split()
	m.TakeMetadata(texts)
	return more
}

// usual are the values of the columns of a row that was never changed. An export leaves such columns out.
var usual = map[string]string{"version": "1", "confidence": "1"}

// kept returns what Amber has no field for, as it was. A row of the database and the same row of an export keep the same:
// not how a time is written, nor which machine made the export.
func kept(r row) map[string]any {
	out := map[string]any{"store": cmp.Or(r.Text("store"), defaultStore)}
	for _, c := range []string{"content_hash", "memory_type", "parent_id", "version", "confidence", "superseded_by"} {
		if s := r.Text(c); s != "" && s != usual[c] {
			out[c] = s
		}
	}
	return out
}
