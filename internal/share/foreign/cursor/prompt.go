package cursor

import (
	"cmp"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

const (
	queryTag = "user_query"
	timeTag  = "timestamp"
)

// around are elements that Cursor puts before a prompt.
var around = []string{timeTag, "cursor_commands", "system_reminder", "attached_files", "open_and_recently_viewed_files", "additional_data"}

// prompt returns what the user wrote, and when, where that is told. Without a query the text is the user's but for what
// Cursor put before it.
func prompt(text string) (own string, at amber.Time) {
	if stamp, ok := element(text, timeTag); ok {
		at = moment(stamp)
	}
	if query, ok := element(text, queryTag); ok {
		return query, at
	}
	for range 64 {
		next := cutBefore(text)
		if next == text {
			break
		}
		text = next
	}
	return text, at
}

// element returns the text of an element. An element without an end goes on to the end of the text.
func element(text, tag string) (string, bool) {
	_, rest, ok := strings.Cut(text, "<"+tag+">")
	if !ok {
		return "", false
	}
	if tag == queryTag { // the user may write about the tag
		if end := strings.LastIndex(rest, "</"+tag+">"); end >= 0 {
			rest = rest[:end]
		}
	} else {
		rest, _, _ = strings.Cut(rest, "</"+tag+">")
	}
	return strings.TrimSpace(rest), true
}

func cutBefore(text string) string {
	for _, tag := range around {
		if rest, ok := strings.CutPrefix(text, "<"+tag+">"); ok {
			if _, rest, ok := strings.Cut(rest, "</"+tag+">"); ok {
				return strings.TrimSpace(rest)
			}
		}
	}
	return text
}

var zone = pattern.Of(`^(.*) \(UTC([+-]\d{1,2})?(?::(\d{2}))?\)$`)

// moment reads a time as "Thursday, July 23, 2026, 7:00 PM (UTC+3)"; zero where it is none.
func moment(s string) amber.Time {
	match := zone().FindStringSubmatch(s)
	if match == nil {
		return amber.Time{}
	}
	offset := 0
	if match[2] != "" {
		hours, err := time.ParseDuration(match[2] + "h" + cmp.Or(match[3], "0") + "m")
		if err != nil {
			return amber.Time{}
		}
		offset = int(hours.Seconds())
	}
	for _, layout := range []string{"Monday, January 2, 2006, 3:04 PM", "Monday, Jan 2, 2006, 3:04 PM"} {
		if t, err := time.ParseInLocation(layout, match[1], time.FixedZone("", offset)); err == nil {
			if at, err := foreign.Moment(t); err == nil {
				return at
			}
		}
	}
	return amber.Time{}
}
