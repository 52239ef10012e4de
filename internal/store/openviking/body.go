package openviking

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
)

// bodyVersion counts the forms of a body. With another one everything is compared.
const bodyVersion = 1

// maxBody bounds what is sent of one memory.
const maxBody = 1 << 20

// trailerMark begins the trailer that the server adds to a file. Inside a text it would be taken
// for the trailer, and what follows it would be lost.
const trailerMark = "<!-- MEMORY_FIELDS"

var markWord = regexp.MustCompile(`(?i)MEMORY_FIELDS`)

// bodyOf returns what is sent of a memory: title, topic and tags, summary and content, and no
// metadata. Equal memories give equal bytes, and the server changes none of them but for the
// trailer behind: no white space at the ends, no mark of a trailer inside.
func bodyOf(m *amber.Memory, redact func(string) string) string {
	var parts []string
	add := func(s string) {
		if s = trim(s); s != "" {
			parts = append(parts, s)
		}
	}
	if title := strings.Join(strings.Fields(m.Title), " "); title != "" {
		add("# " + title)
	}
	add(labels(m))
	if trim(m.Summary) != trim(m.Content) {
		add(m.Summary)
	}
	add(m.Content)
	text := strings.ToValidUTF8(redact(strings.Join(parts, "\n\n")), "\uFFFD")
	text = trim(markWord.ReplaceAllString(text, "MEMORY FIELDS"))
	if text == "" {
		return "(no text)"
	}
	return bounded(text)
}

// labels is the line of topic and tags.
func labels(m *amber.Memory) string {
	var parts []string
	if m.Topic != "" {
		parts = append(parts, "Topic: "+m.Topic)
	}
	if len(m.Tags) > 0 {
		parts = append(parts, "Tags: "+strings.Join(m.Tags, ", "))
	}
	return strings.Join(parts, ". ")
}

// trim removes what the server would remove at both ends: white space, and the four separators
// that Python counts as such.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f })
}

// bounded cuts a text that is too long at a whole character, and says so.
func bounded(text string) string {
	if len(text) <= maxBody {
		return text
	}
	line := fmt.Sprintf("\n\n(Cut: the whole text has %d bytes.)", len(text))
	at := maxBody - len(line)
	for !utf8.RuneStart(text[at]) {
		at--
	}
	return trim(text[:at]) + line
}

// holds reports whether the bytes of a file are those of a body, as the server keeps them.
func holds(file []byte, body string) bool {
	text := string(file)
	if i := strings.LastIndex(text, trailerMark); i >= 0 {
		text = text[:i]
	}
	return trim(text) == body
}
