package foreign

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

// TakeTimes sets when a memory was made and changed, from two texts of which either may be empty. The error says which is not to
// be believed.
func (m *Memory) TakeTimes(created, updated string) error {
	for _, t := range []struct {
		name, text string
		into       *amber.Time
	}{{"time of creation", created, &m.CreatedAt}, {"time of change", updated, &m.UpdatedAt}} {
		if t.text == "" {
			continue
		}
		at, err := Text(t.text)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		*t.into = at
	}
	return nil
}

// TakeMetadata sets the metadata, but for the title and the id of a memory that an export of Amber wrote into it.
func (m *Memory) TakeMetadata(texts map[string]string) {
	if _, err := amber.ParseMemoryID(texts["amber_id"]); err == nil {
		m.AmberID = texts["amber_id"]
		delete(texts, "amber_id")
	}
	m.Title, m.Metadata = texts["title"], texts
	delete(texts, "title")
}

// CutID parts the id of a memory, which an export of Amber wrote behind a mark, from other texts.
func CutID(texts []string, mark string) (rest []string, id string) {
	for _, s := range texts {
		own, ok := strings.CutPrefix(s, mark)
		if _, err := amber.ParseMemoryID(own); ok && err == nil && id == "" {
			id = own
			continue
		}
		rest = append(rest, s)
	}
	return rest, id
}
