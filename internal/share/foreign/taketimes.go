package foreign

import (
	"fmt"

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
