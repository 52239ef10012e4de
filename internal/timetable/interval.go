package timetable

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// parseInterval reads a duration with days of 24 hours before it.
func parseInterval(text string) (time.Duration, error) {
	var d time.Duration
	rest := text
	if days, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 9) // 511 days are more than Most
		if err != nil {
			return 0, errForm
		}
		d, rest = time.Duration(n)*day, after
	}
	if rest != "" {
		more, err := time.ParseDuration(rest)
		if err != nil || more < 0 || more > Most {
			return 0, errForm
		}
		d += more
	}
	if d < Least || d > Most {
		return 0, fmt.Errorf("an interval is from %s to %dd", "1m", Most/day)
	}
	return d, nil
}
