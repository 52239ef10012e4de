package timetable

import (
	"fmt"
	"time"
)

const day = 24 * time.Hour

// parseInterval reads a span between the bounds of a table.
func parseInterval(text string) (time.Duration, error) {
	d, err := Span(text)
	if err != nil {
		return 0, errForm
	}
	if d < Least || d > Most {
		return 0, fmt.Errorf("an interval is from %s to %dd", "1m", Most/day)
	}
	return d, nil
}
