package claudecode

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Bounds of one transcript, each line of which takes some eighty bytes of memory.
const (
	maxRecords = 2 << 20
	maxChats   = 50_000 // what is said in more of them belongs to the last
)

// record is what is kept of a line while a transcript is read.
type record struct {
	uuid, parent uint64 // 0 for none
	message      uint64 // of the answer that a line is a part of; 0 for none
	at           int64  // milliseconds; 0 for no time
	line         int32
	chat         int32 // index of the conversation; 0 is that of the file
	bytes        int32 // of what waits for the end of an answer
	does         does
}

// does says what a line is, and what becomes of it.
type does uint8

const (
	prompts does = 1 << iota // a turn of the user
	results                  // a turn of tools
	answers                  // part of an answer of the model
	compact                  // a compaction
	speaks                   // of type user or assistant, whatever it says
	kept                     // it belongs to the conversation
	ends                     // the last line of an answer
)

func (r *record) is(d does) bool { return r.does&d != 0 }

// chat is one conversation of a transcript: that of the file, or one of an agent that was started within it.
type chat struct {
	id          amber.SessionID
	agent, root string // ids of the agent and of the first line; one of them
	cwd         string
	prompts     []opening // the first of its prompts
	count       counter
}

// opening is the beginning of a prompt.
type opening struct {
	record int32
	text   string
}

const (
	maxOpenings  = 4
	openingBytes = 300
)

// transcript is what the first reading of a file finds.
type transcript struct {
	file     foreign.File
	agent    bool // the whole file is about an agent that a session started
	records  []record
	index    map[uint64]int32 // of records by uuid
	chats    []chat
	byAgent  map[string]int32
	lastSide int32           // the last conversation of an agent without an id
	overs    map[uint64]bool // tool uses that are over, and whether they failed
	sessions []string        // ids that lines name, in order
	title    string          // given by a person
	aiTitle  string
	fork     string // the session that lines were copied from
}

// scan reads a transcript for the first time, and reports to to.Skip what it cannot read.
func scan(ctx context.Context, f foreign.File, to foreign.Sink) (*transcript, error) {
	t := &transcript{
		file: f, agent: strings.HasPrefix(path.Base(f.Name), "agent-"), index: map[uint64]int32{},
		chats: make([]chat, 1), byAgent: map[string]int32{}, overs: map[uint64]bool{},
	}
	return t, f.EachLine(ctx, to.Skip, func(n int64, b []byte) error {
		if len(t.records) >= maxRecords || n > 1<<30 {
			to.Skip(f.Line(n), "transcript has more than %d lines, the limit; the rest is not read", maxRecords)
			return foreign.ErrEnough
		}
		t.add(n, b, to)
		return nil
	})
}

// add notes one line.
func (t *transcript) add(n int64, b []byte, to foreign.Sink) {
	l, err := parseLine(b)
	if err != nil {
		to.Skip(t.file.Line(n), "%v", err)
		return
	}
	t.note(&l)
	r := record{uuid: short(l.uuid), parent: short(l.parent()), line: int32(n)}
	said, err := l.said()
	if err != nil {
		to.Skip(t.file.Line(n), "%v", err)
	}
	r.does = doing(&l, &said)
	if r.uuid == 0 && r.does&^speaks == 0 {
		return
	}
	if at, err := l.at(); err != nil && r.does&^speaks != 0 {
		to.Skip(t.file.Line(n), "%v", err)
		r.does &= speaks
	} else if err == nil && !at.IsZero() {
		r.at = at.UnixMilli()
	}
	r.chat = t.chatOf(&l, r)
	r.message = short(l.message)
	r.bytes = int32(min(said.bytes(), 1<<30))
	t.keep(&l, r, &said)
}

// doing says what a line does.
func doing(l *line, s *said) (d does) {
	if l.typ == "user" || l.typ == "assistant" {
		d |= speaks
	}
	if s.prompt != "" {
		d |= prompts
	}
	if s.result() != "" {
		d |= results
	}
	if len(s.answer) > 0 {
		d |= answers
	}
	if s.compaction != "" {
		d |= compact
	}
	return d
}

// note takes what a line says about the whole.
func (t *transcript) note(l *line) {
	switch l.typ {
	case "custom-title":
		t.title = l.title
	case "ai-title":
		t.aiTitle = l.aiTitle
	}
	if l.fork != "" && t.fork == "" {
		t.fork = l.fork
		t.named(t.fork)
	}
	if l.typ == "user" || l.typ == "assistant" || len(t.sessions) == 0 {
		t.named(l.session)
	}
}

// named notes the id of a session. There are one or two in a file.
func (t *transcript) named(id string) {
	if id == "" || amber.CheckID("session id", id) != nil || len(t.sessions) >= 100 {
		return
	}
	if !slices.Contains(t.sessions, id) {
		t.sessions = append(t.sessions, id)
	}
}

// chatOf returns the conversation that a line belongs to.
func (t *transcript) chatOf(l *line, r record) int32 {
	if t.agent || !l.sidechain {
		return 0
	}
	if l.agent != "" {
		if _, ok := t.byAgent[l.agent]; !ok {
			t.byAgent[l.agent] = t.newChat(chat{agent: l.agent})
		}
		return t.byAgent[l.agent]
	}
	parent, known := t.index[r.parent]
	switch {
	case known && t.records[parent].chat > 0:
		t.lastSide = t.records[parent].chat
	case r.parent == 0, known, t.lastSide == 0:
		root := l.uuid
		if root == "" {
			root = fmt.Sprintf("line-%d", r.line)
		}
		t.lastSide = t.newChat(chat{root: root})
	}
	return t.lastSide
}

func (t *transcript) newChat(c chat) int32 {
	if len(t.chats) < maxChats {
		t.chats = append(t.chats, c)
	}
	return int32(len(t.chats) - 1)
}

// keep adds a record. Where a line is there twice, the first one counts.
func (t *transcript) keep(l *line, r record, s *said) {
	if _, twice := t.index[r.uuid]; twice && r.uuid != 0 {
		return
	}
	n := int32(len(t.records))
	if r.uuid != 0 {
		t.index[r.uuid] = n
	}
	t.records = append(t.records, r)
	c := &t.chats[r.chat]
	if c.cwd == "" {
		c.cwd = l.cwd
	}
	if r.is(prompts) && len(c.prompts) < maxOpenings {
		c.prompts = append(c.prompts, opening{n, firstWords(s.prompt)})
	}
	for _, b := range s.results {
		if len(t.overs) < maxRecords {
			t.overs[short(b.ToolUseID)] = b.IsError
		}
	}
}

// firstWords returns the first line of a prompt, as far as a name needs it.
func firstWords(prompt string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	first = first[:min(len(first), openingBytes)]
	return strings.Join(strings.Fields(strings.ToValidUTF8(first, "")), " ")
}
