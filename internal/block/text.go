package block

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// minContextPart is how much of a memory is worth showing: what would be cut
// to less is left out.
const minContextPart = 160

// render writes what fits: memories first, they are what was asked for. One
// that is too large is cut, to half of what is left where others follow.
func render(b *wire.ContextBlock, size int, nonce string, hits []amber.Hit, sessions []amber.Session) {
	begin := "<amber-memory " + nonce + ">\n" + contextHeader + "\n"
	end := "</amber-memory " + nonce + ">\n"
	room := size - len(begin) - len(end)
	var body strings.Builder
	for i, h := range hits {
		left := room - body.Len()
		if i < len(hits)-1 {
			left /= 2
		}
		text, cut := contextMemory(h, room-body.Len(), left)
		if text == "" {
			continue
		}
		body.WriteString(text)
		b.Memories = append(b.Memories, h)
		if cut {
			b.Cut = append(b.Cut, h.ID)
		}
	}
	b.Omitted = len(hits) - len(b.Memories)
	const heading = "\n" + contextHeading + "\n"
	for i, s := range sessions {
		left := room - body.Len()
		if i == 0 {
			left -= len(heading)
		}
		line := contextSession(s, left)
		if line == "" {
			break
		}
		if i == 0 {
			body.WriteString(heading)
		}
		body.WriteString(line)
		b.Sessions = append(b.Sessions, s)
	}
	b.Text = begin + body.String() + end
}

// contextMemory renders a memory: whole where that takes at most room bytes,
// else cut to at most part bytes. It is empty where neither is possible.
func contextMemory(h amber.Hit, room, part int) (text string, cut bool) {
	head := fmt.Sprintf("\n- [%s, %s, %s] ", h.Kind, h.Scope, h.UpdatedAt.Time().Format("2006-01-02"))
	if title := harmless(h.Title); title != "" {
		head += indented("**" + title + "** ")
	}
	content := indented(harmless(h.Content))
	if text := head + content + "\n"; len(text) <= room {
		return text, false
	}
	tail := fmt.Sprintf("\n  [cut: this is the beginning of %d bytes; the whole is memory %s]\n", len(h.Content), h.ID)
	shown := cutText(content, part-len(head)-len(tail))
	if len(shown) < minContextPart && len(shown) < len(content)/2 {
		return "", false
	}
	return head + shown + tail, true
}

// indented keeps the lines of a text inside its item of a list.
func indented(s string) string { return strings.ReplaceAll(s, "\n", "\n  ") }

// contextSession renders a session in at most room bytes: its summary may be
// cut. It is empty where not even its name has room.
func contextSession(s amber.Session, room int) string {
	line := fmt.Sprintf("- %s, %s", s.StartedAt.Time().Format("2006-01-02"), harmless(s.Name))
	if s.Project != "" {
		line += " (" + harmless(s.Project) + ")"
	}
	if len(line)+1 > room {
		return ""
	}
	if s.Summary == "" {
		return line + "\n"
	}
	summary := strings.ReplaceAll(harmless(s.Summary), "\n", " ")
	if whole := line + ": " + summary + "\n"; len(whole) <= room {
		return whole
	}
	const tail = " [cut]\n"
	if shown := cutText(summary, room-len(line)-len(": ")-len(tail)); shown != "" {
		return line + ": " + shown + tail
	}
	return line + "\n"
}

// cutText returns the longest beginning of s of at most n bytes that ends
// with a sentence or a line. Where that would be less than half of what may be
// shown it ends with a word, and without words with a whole character.
// A fence of code that is open where it ends is closed.
func cutText(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) <= n {
		return s
	}
	const fence = "```"
	shown := cutAt(s, n)
	if strings.Count(shown, fence)%2 == 1 {
		shown = cutAt(s, n-len("\n  "+fence))
		if strings.Count(shown, fence)%2 == 1 {
			shown += "\n  " + fence
		}
	}
	return shown
}

func cutAt(s string, n int) string {
	n = max(n, 0)
	for n > 0 && (!utf8.RuneStart(s[n]) || isMark(s[n:])) {
		n--
	}
	if end := lastSentence(s, n); end >= n/2 && end > 0 {
		return s[:end]
	}
	s = s[:n]
	if end := strings.LastIndexFunc(s, unicode.IsSpace); end >= n/2 && end > 0 {
		return strings.TrimRightFunc(s[:end], unicode.IsSpace)
	}
	return s
}

// isMark reports whether s begins with an accent or the like, which belongs to
// the character before it.
func isMark(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsMark(r)
}

// lastSentence returns where the last sentence or line that ends within the
// first n bytes of s does, 0 for none.
func lastSentence(s string, n int) int {
	end := 0
	for i, r := range s[:n] {
		after := i + utf8.RuneLen(r)
		switch {
		case r == '\n':
			end = len(strings.TrimRightFunc(s[:i], unicode.IsSpace))
		case strings.ContainsRune("。！？", r):
			end = after
		case strings.ContainsRune(".!?…", r) && (after == len(s) || s[after] == ' ' || s[after] == '\n'):
			end = after
		}
	}
	return end
}

// harmless drops characters that could hide text from a person or change how
// it reads: control characters, direction marks and overrides, invisible
// formatting.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.Is(unicode.C, r) {
			return -1
		}
		return r
	}, s)
}
