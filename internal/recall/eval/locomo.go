package eval

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// locomoFile is one conversation of LoCoMo. The conversation has the names of its two
// speakers, and for each session a list and a time.
type locomoFile struct {
	Conversation map[string]json.RawMessage `json:"conversation"`
	QA           []struct {
		Question string   `json:"question"`
		Evidence []string `json:"evidence"`
		Category int      `json:"category"`
	} `json:"qa"`
}

// locomoTurn is one utterance; one that shows a picture has its caption.
type locomoTurn struct {
	Speaker string `json:"speaker"`
	ID      string `json:"dia_id"`
	Text    string `json:"text"`
	Caption string `json:"blip_caption"`
}

// locomoTime is how a session tells its time.
const locomoTime = "3:04 pm on 2 January, 2006"

// locomoClasses names the categories of questions.
var locomoClasses = map[int]string{1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

const locomoAdversarial = 5

// locomoEvidence finds ids of turns, also in the few places where several are in one
// string or one is misspelt.
var locomoEvidence = regexp.MustCompile(`D:?(\d{1,6}):(\d{1,6})`)

func parseLoCoMo(raw json.RawMessage) (*Case, error) {
	var f locomoFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	c := &Case{Format: FormatLoCoMo}
	known := map[string]bool{}
	for _, n := range locomoSessions(f.Conversation) {
		s, err := locomoSession(f.Conversation, n, known)
		if err != nil {
			return nil, fmt.Errorf("session_%d: %w", n, err)
		}
		if len(s.Turns) > 0 {
			c.Sessions = append(c.Sessions, s)
		}
	}
	c.settle()
	for _, q := range f.QA {
		question := Question{Text: q.Question, Class: locomoClasses[q.Category], Rule: RuleEach, NoAnswer: q.Category == locomoAdversarial}
		if question.Class == "" {
			question.Class = fmt.Sprintf("category %d", q.Category)
		}
		for _, m := range locomoEvidence.FindAllStringSubmatch(strings.Join(q.Evidence, " "), -1) {
			question.add(locomoID(m[1], m[2]), known)
		}
		c.ask(question)
	}
	return c, c.check()
}

// locomoSessions returns the numbers of the sessions, in order.
func locomoSessions(conversation map[string]json.RawMessage) (numbers []int) {
	for key := range conversation {
		rest, ok := strings.CutPrefix(key, "session_")
		if n, err := strconv.Atoi(rest); ok && err == nil && n > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

func locomoSession(conversation map[string]json.RawMessage, n int, known map[string]bool) (s Session, err error) {
	name := fmt.Sprintf("session_%d", n)
	var turns []locomoTurn
	if err := json.Unmarshal(conversation[name], &turns); err != nil {
		return s, err
	}
	var when, first string
	if err := readText(conversation[name+"_date_time"], &when); err != nil && len(turns) > 0 {
		return s, err
	}
	if err := readText(conversation["speaker_a"], &first); err != nil {
		return s, fmt.Errorf("speaker_a: %w", err)
	}
	at, err := time.Parse(locomoTime, strings.ToLower(strings.TrimSpace(when)))
	if err != nil && len(turns) > 0 {
		return s, fmt.Errorf("the time of the session is not like %q", locomoTime)
	}
	s = Session{ID: amber.SessionID(name), At: amber.At(at)}
	for _, t := range turns {
		text := t.Text
		if t.Caption != "" {
			text = strings.TrimSpace(text + " [shares a picture: " + t.Caption + "]")
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		id := locomoEvidence.FindStringSubmatch(t.ID)
		if id == nil || known[locomoID(id[1], id[2])] {
			return s, fmt.Errorf("a turn has no id of its own, want one like D1:3")
		}
		known[locomoID(id[1], id[2])] = true
		role := amber.RoleAssistant
		if t.Speaker == first {
			role = amber.RoleUser
		}
		s.add(locomoID(id[1], id[2]), role, t.Speaker+": "+text)
	}
	return s, nil
}

// readText reads a JSON string.
func readText(raw json.RawMessage, into *string) error {
	if raw == nil {
		return fmt.Errorf("the text is missing")
	}
	return json.Unmarshal(raw, into)
}

// locomoID is the id of a turn without leading zeros.
func locomoID(session, turn string) string {
	s, _ := strconv.Atoi(session) // digits, by the pattern
	t, _ := strconv.Atoi(turn)
	return fmt.Sprintf("D%d:%d", s, t)
}
