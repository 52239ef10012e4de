package claudecode

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// line is one line of a transcript, as far as it matters here.
type line struct {
	typ, uuid, parentUUID, logicalParent string
	session, agent, cwd, fork            string
	title, aiTitle                       string
	timestamp                            []byte
	sidechain, meta, compact             bool

	message, model string // ids
	content        []byte
	attachment     string // its type
	mode           string // of a command that waited
	prompt         []byte
}

var (
	errNotObject = errors.New("line is not a JSON object")
	errBroken    = errors.New("line is not valid JSON")
)

// parseLine reads a line, which is valid as long as b is. A field of another type than usual is left empty. Lines are
// long and little of them is needed, so the rest is not looked at.
func parseLine(b []byte) (line, error) {
	var l line
	if len(b) == 0 || b[0] != '{' && string(b) != "null" {
		return l, errNotObject
	}
	if b[0] == '{' && !foreign.Members(b, l.member) {
		return l, errBroken
	}
	return l, nil
}

func (l *line) member(name string, v []byte) {
	switch name {
	case "timestamp":
		l.timestamp = v
	case "isSidechain":
		l.sidechain = string(v) == "true"
	case "isMeta":
		l.meta = string(v) == "true"
	case "isCompactSummary":
		l.compact = string(v) == "true"
	case "message", "attachment", "forkedFrom":
		foreign.Members(v, func(inner string, v []byte) { l.inner(name+"."+inner, v) })
	default:
		put(l.text(name), v)
	}
}

// text returns where the text of a member goes; nil for one that is not needed.
func (l *line) text(name string) *string {
	switch name {
	case "type":
		return &l.typ
	case "uuid":
		return &l.uuid
	case "parentUuid":
		return &l.parentUUID
	case "logicalParentUuid":
		return &l.logicalParent
	case "sessionId":
		return &l.session
	case "agentId":
		return &l.agent
	case "cwd":
		return &l.cwd
	case "customTitle":
		return &l.title
	case "aiTitle":
		return &l.aiTitle
	}
	return nil
}

// inner takes a member of a member.
func (l *line) inner(name string, v []byte) {
	switch name {
	case "message.content":
		l.content = v
	case "attachment.prompt":
		l.prompt = v
	case "message.id":
		put(&l.message, v)
	case "message.model":
		put(&l.model, v)
	case "attachment.type":
		put(&l.attachment, v)
	case "attachment.commandMode":
		put(&l.mode, v)
	case "forkedFrom.sessionId":
		put(&l.fork, v)
	}
}

func put(into *string, v []byte) {
	if into != nil {
		*into = foreign.StringOf(v)
	}
}

// at returns the time of a line; zero where it has none.
func (l *line) at() (amber.Time, error) {
	raw := strings.Trim(string(l.timestamp), `"`)
	if raw == "" || raw == "null" {
		return amber.Time{}, nil
	}
	return foreign.Text(raw)
}

// parent returns the line before. A compaction begins anew and names the line before it elsewhere.
func (l *line) parent() string {
	if l.parentUUID == "" {
		return l.logicalParent
	}
	return l.parentUUID
}

// short returns the number of an id in the maps of a transcript; 0 for no id.
func short(id string) uint64 {
	if id == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(id))
	return binary.BigEndian.Uint64(sum[:]) | 1
}

// said is what a line says.
type said struct {
	prompt     string          // of the user
	results    []foreign.Block // of tools
	answer     []foreign.Block // of the model: texts and uses of tools
	compaction string
}

func (s *said) bytes() (n int) {
	n = len(s.prompt) + len(s.compaction)
	for _, b := range slices.Concat(s.results, s.answer) {
		n += len(b.Content) + len(b.Text) + len(b.Input)
	}
	return n
}

// said returns what a line says; nothing for the lines that only the program needs.
func (l *line) said() (said, error) {
	content, from := l.content, fromUser
	switch {
	case l.compact:
		from = fromCompaction
	case l.meta:
		return said{}, nil
	case l.typ == "user":
	case l.typ == "attachment" && l.attachment == "queued_command" && l.mode != "task-notification":
		content = l.prompt // typed while the model was at work
	case l.typ == "assistant" && l.model != "<synthetic>": // which is the program, not a model
		from = fromModel
	default:
		return said{}, nil
	}
	blocks, err := foreign.Blocks(content)
	if err != nil {
		return said{}, errBroken
	}
	return from(blocks), nil
}

func fromCompaction(blocks []foreign.Block) said { return said{compaction: plain(blocks)} }

func plain(blocks []foreign.Block) string {
	var parts []string
	for _, b := range blocks {
		if s := b.Plain(); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}

func fromUser(blocks []foreign.Block) (s said) {
	var parts []string
	for _, b := range blocks {
		if b.Type == "tool_result" {
			s.results = append(s.results, b)
		} else if p := ownWords(b.Plain()); p != "" {
			parts = append(parts, p)
		}
	}
	s.prompt = strings.Join(parts, "\n")
	return s
}

func fromModel(blocks []foreign.Block) (s said) {
	for _, b := range blocks {
		if b.Type == "tool_use" || b.Type == "text" && strings.TrimSpace(b.Text) != "" {
			s.answer = append(s.answer, b)
		}
	}
	return s
}

// result returns what tools answered, as one text.
func (s *said) result() string {
	var parts []string
	for _, r := range s.results {
		if p := strings.Trim(r.Plain(), "\n"); strings.TrimSpace(p) != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "\n\n")
}
