package engram

import (
	"strings"
	"time"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

const (
	timeLayout = time.DateTime // of rows, UTC
	instead    = '\uFFFD'      // replaces a character that Amber does not take
)

// parseTime reads a time of a row: as SQLite writes it, or RFC 3339. It returns the zero Time for a text that cannot
// be read, and for a time that this format cannot hold.
func parseTime(s string) amber.Time {
	s = strings.TrimSpace(s)
	for _, layout := range []string{timeLayout, time.RFC3339Nano, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil && t.UnixMilli() >= 0 && t.Year() < 6000 {
			return amber.At(t)
		}
	}
	return amber.Time{}
}

func formatTime(t amber.Time) string { return time.UnixMilli(t.UnixMilli()).UTC().Format(timeLayout) }

// latest returns the latest of some times.
func latest(times ...amber.Time) (last amber.Time) {
	for _, t := range times {
		if last.Before(t) {
			last = t
		}
	}
	return last
}

// EntryDate returns the date of the entry for a chunk of ours: that of its newest row, to the second. Readers take the
// greatest date of all entries for what has been exported already, so a later one would hide rows of others.
func EntryDate(c Chunk) string {
	var newest amber.Time
	for _, s := range c.Sessions {
		newest = latest(newest, parseTime(s.StartedAt))
	}
	for _, o := range c.Observations {
		newest = latest(newest, parseTime(o.CreatedAt))
	}
	for _, p := range c.Prompts {
		newest = latest(newest, parseTime(p.CreatedAt))
	}
	return time.UnixMilli(newest.UnixMilli()).UTC().Format(time.RFC3339)
}

// Which characters a text may not have.
func control(r rune) bool   { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }
func unprinted(r rune) bool { return unicode.IsControl(r) }
func zero(r rune) bool      { return r == 0 }

// clean replaces the characters that refused says with U+FFFD. Lost has them, in order, and every U+FFFD that was there
// before; it is "" when nothing had to be replaced. restore undoes it.
func clean(s string, refused func(rune) bool) (text, lost string) {
	if strings.IndexFunc(s, refused) < 0 {
		return s, ""
	}
	var was strings.Builder
	text = strings.Map(func(r rune) rune {
		if r == instead || refused(r) {
			was.WriteRune(r)
			return instead
		}
		return r
	}, s)
	return text, was.String()
}

// restore puts back what clean took out. A text that has another number of U+FFFD was changed since and stays as it is.
func restore(text, lost string) string {
	was := []rune(lost)
	if len(was) == 0 || strings.Count(text, string(instead)) != len(was) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r == instead {
			r, was = was[0], was[1:]
		}
		return r
	}, text)
}

// cleanTitle makes a title of one line that is not too long.
func cleanTitle(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return strings.TrimSpace(clip.Bytes(strings.TrimSpace(s), amber.MaxTitleBytes))
}

// cleanID makes an identifier of s that Amber takes, "" of one that is blank. The error is that of [amber.CheckID].
func cleanID(what, s string) (string, error) {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return instead
		}
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s))
	if s == "" {
		return "", nil
	}
	return s, amber.CheckID(what, s)
}

// sessionName makes a name for a session of its id.
func sessionName(id string) string {
	if runes := []rune(id); len(runes) > amber.MaxNameRunes {
		id = string(runes[:amber.MaxNameRunes])
	}
	return strings.TrimSpace(id)
}

// firstLine makes a title for a memory that has none.
func firstLine(content string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(content), "\n")
	return cleanTitle(clip.Bytes(line, 100))
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
