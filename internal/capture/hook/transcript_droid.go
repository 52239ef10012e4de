package hook

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/capture/journal"
)

// droidTranscript is the log of messages that Droid writes. Amber takes the user's
// prompt from it, too: `droid exec` has no event for a prompt.
func droidTranscript() *transcript {
	return &transcript{
		folder: func(f Files) string { return filepath.Join(f.Home, ".factory", "sessions") },
		fits: func(path, session string) bool {
			return strings.Count(path, "/") <= 1 && isSessionFile("/"+path, session)
		},
		read: readDroid,
	}
}

// fillDroid takes the id of the message that a prompt is. Stop names that of the
// answer, which says nothing about the turn.
func fillDroid(d *draft) {
	fillClaude(d)
	if id := d.id("message_id"); d.ev.Kind == journal.HostPrompt && d.ev.TurnID == "" {
		d.ev.TurnID = id
	}
}

// readDroid returns the answer whose id the payload names, and the prompt before
// it. The id of a prompt is that of the turn.
func readDroid(d *draft, lines func(func(string) bool)) (s said) {
	id := d.raw.get("message_id").str()
	lines(func(line string) bool {
		v, ok := lineAbout(line, "message")
		message := v.get("message")
		if !ok || v.get("type").str() != "message" || message.first("visibility", "hookEventName").kind == text {
			return true
		}
		text := droidText(message.get("content"))
		switch message.get("role").str() {
		case "assistant":
			switch of := v.get("id").str(); {
			case id != "" && of == id:
				s.whole, s.answer = true, text
			case s.answer.str() == "":
				s.answer = text
				s.whole = s.whole || id == "" && text.str() != "" && !usesTool(message.get("content"))
			}
		case "user":
			if from := v.get("id").str(); text.str() != "" && !strings.HasPrefix(from, "context-") {
				s.turn, s.prompt = from, text
				return false
			}
		}
		return true
	})
	s.whole = s.whole && s.answer.str() != ""
	return s
}

// usesTool reports whether a message asks for a tool, so that the turn goes on.
func usesTool(content value) bool {
	return slices.ContainsFunc(content.list, func(p value) bool { return p.get("type").str() == "tool_use" })
}

// droidText returns the texts of a message but for those that Droid itself adds.
func droidText(content value) value {
	if content.kind == text {
		return content
	}
	var texts []string
	cut := false
	for _, p := range content.list {
		t := p.get("text")
		if p.get("type").str() == "text" && !strings.HasPrefix(t.str(), "<system-reminder>") {
			texts, cut = append(texts, t.str()), cut || t.cut
		}
	}
	return value{kind: text, text: strings.Join(texts, "\n\n"), cut: cut}
}
