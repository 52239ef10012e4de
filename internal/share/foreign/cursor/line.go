package cursor

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// line is one line of a transcript.
type line struct {
	role      string
	timestamp []byte
	content   []byte
	others    bool // it has what transcripts of other programs have
}

// parseLine reads a line, which is valid as long as b is.
func parseLine(b []byte) (line, error) {
	var l line
	if len(b) == 0 || b[0] != '{' && string(b) != "null" {
		return l, errors.New("line is not a JSON object")
	}
	if b[0] == '{' && !foreign.Members(b, l.member) {
		return l, errors.New("line is not valid JSON")
	}
	return l, nil
}

func (l *line) member(name string, v []byte) {
	switch name {
	case "role":
		_ = json.Unmarshal(v, &l.role) // what is no text is no role
	case "timestamp":
		l.timestamp = v
	case "uuid", "sessionId", "parentUuid":
		l.others = true
	case "message":
		foreign.Members(v, func(inner string, v []byte) {
			if inner == "content" {
				l.content = v
			}
		})
	}
}

// said is what a line says.
type said struct {
	role     amber.Role
	text     string
	activity []amber.Activity
	result   string     // of tools, beside a prompt
	at       amber.Time // zero where the line does not tell
}

// said reads the blocks of a line.
func (l *line) said() (s said, err error) {
	if l.role != "user" && l.role != "assistant" {
		return s, nil
	}
	blocks, err := foreign.Blocks(l.content)
	if err != nil {
		return s, errors.New("line is not valid JSON")
	}
	var texts, results []string
	for _, b := range blocks {
		switch text := b.Plain(); {
		case b.Type == "tool_use":
			s.activity = append(s.activity, b.Activity("", foreign.Unknown)...)
		case b.Type == "tool_result" && text != "":
			results = append(results, strings.Trim(text, "\n"))
		case text != "":
			texts = append(texts, text)
		}
	}
	s.role, s.result = amber.Role(l.role), strings.TrimSpace(strings.Join(results, "\n\n"))
	s.text = strings.TrimSpace(strings.Join(texts, "\n"))
	if l.role == "user" {
		s.text, s.at = prompt(s.text)
	} else {
		s.text = strings.TrimSpace(strings.TrimSuffix(s.text, redacted)) // what the model thought
	}
	if raw := strings.Trim(string(l.timestamp), `"`); raw != "" && raw != "null" {
		s.at, err = foreign.Text(raw)
	}
	return s, err
}

const redacted = "[REDACTED]"

// turns returns how many turns a line makes.
func (s *said) turns() (n int64) {
	if s.result != "" {
		n++
	}
	if s.text != "" || len(s.activity) > 0 {
		n++
	}
	return n
}
