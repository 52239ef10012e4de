package chatgpt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Bounds of what is kept until the last conversation is read.
const (
	maxSaved      = 100_000
	maxSavedBytes = 32 << 20
)

// saved is a fact that the user asked ChatGPT to remember.
type saved struct {
	place       foreign.Place
	text        string
	first, last amber.Time // it may have been told several times
}

// found is a message of which the newest counts.
type found struct {
	place foreign.Place
	at    amber.Time
	order int64 // of its conversation
	id    string
	text  string
}

// memories collects the saved memories of an export, which has no list of them. Two traces tell: the calls that save one,
// and the whole list as it was put before the model at times.
type memories struct {
	to           foreign.Sink
	calls        map[string]*saved // by the key of their text
	bytes        int
	full         bool
	list         found
	instructions found
}

func newMemories(to foreign.Sink) memories { return memories{to: to, calls: map[string]*saved{}} }

// collect looks at every message, also at answers that were given up: what they saved was saved.
func (s *memories) collect(c *conversation, at foreign.Place, order int64) {
	for id, n := range c.Mapping {
		if n == nil || n.Message == nil {
			continue
		}
		m := n.Message
		call := m.isMemory()
		if !call && m.Content.Type != typeMemories && m.Content.Type != typeInstructions {
			continue
		}
		f := found{place: messagePlace(at, id), at: c.timeOf(id), order: order, id: id}
		switch {
		case m.CreateTime.err != nil:
			s.to.Skip(f.place, "%v", m.CreateTime.err)
		case call:
			f.text = m.text()
			s.call(f)
		case m.Content.Type == typeMemories:
			f.text = strings.TrimSpace(m.Content.ModelSetContext)
			s.list.follow(f)
		default:
			f.text = instructions(m.Content)
			s.instructions.follow(f)
		}
	}
}

// follow takes the place of an older message. An empty one says nothing: exports have many of them.
func (f *found) follow(other found) {
	newer := cmp.Or(cmp.Compare(other.at.UnixMilli(), f.at.UnixMilli()), cmp.Compare(other.order, f.order), cmp.Compare(other.id, f.id)) > 0
	if other.text != "" && (f.text == "" || newer) {
		*f = other
	}
}

// call takes a fact that was saved.
func (s *memories) call(f found) {
	text := strings.TrimSpace(f.text)
	key := textKey(text)
	old := s.calls[key]
	switch {
	case text == "":
	case strings.HasPrefix(strings.ToLower(text), "forget "):
		s.to.Skip(f.place, "message asks ChatGPT to forget something and does not say which memory")
	case old != nil && f.at.Before(old.first):
		old.place, old.first = f.place, f.at
	case old != nil && old.last.Before(f.at):
		old.last = f.at
	case old != nil:
	case len(s.calls) >= maxSaved || s.bytes+len(text) > maxSavedBytes:
		if !s.full {
			s.to.Skip(f.place, "export has more than %d saved memories or %d bytes of them; the rest is not read", maxSaved, maxSavedBytes)
		}
		s.full = true
	default:
		s.bytes += len(text)
		s.calls[key] = &saved{f.place, text, f.at, f.at}
	}
}

// textKey names a memory by its text with collapsed white space: nothing else stays the same.
func textKey(text string) string {
	return foreign.Hex(foreign.Digest(strings.Join(strings.Fields(text), " ")))
}

// tell gives out the memories of the newest list, and those saved after it. A memory that was saved before the list
// and is not in it counts as deleted: the export has no better sign.
func (s *memories) tell() error {
	if err := s.note(); err != nil {
		return err
	}
	listed := map[string]bool{}
	for i, e := range entries(s.list.text) {
		at := foreign.Place{File: s.list.place.File, At: fmt.Sprintf("%s, entry %d", s.list.place.At, i+1)}
		key := textKey(e.text)
		if listed[key] {
			continue
		}
		listed[key] = true
		day, err := e.time(s.list.at)
		if err != nil {
			s.to.Skip(at, "%v", err)
			continue
		}
		if err := s.memory(at, key, e.text, day); err != nil {
			return err
		}
	}
	return s.tellCalls(listed)
}

func (s *memories) tellCalls(listed map[string]bool) error {
	for _, key := range s.sorted() {
		c := s.calls[key]
		switch {
		case listed[key]:
			continue
		case s.list.text != "" && !s.list.at.Before(c.last):
			s.to.Skip(c.place, "memory is not in the newest list of memories, of %s: taken for deleted", s.list.at)
			continue
		}
		if err := s.memory(c.place, key, c.text, c.first); err != nil {
			return err
		}
	}
	return nil
}

func (s *memories) sorted() []string {
	keys := make([]string, 0, len(s.calls))
	for key := range s.calls {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.calls[a].first.UnixMilli(), s.calls[b].first.UnixMilli()), strings.Compare(a, b))
	})
	return keys
}

func (s *memories) memory(at foreign.Place, key, text string, day amber.Time) error {
	return s.to.Memory(foreign.Memory{
		Place: at, Key: foreign.Key{key}, Kind: amber.UserFact, Scope: amber.ScopeUser, Content: text, CreatedAt: day, UpdatedAt: day,
	})
}

// note gives out the custom instructions.
func (s *memories) note() error {
	if s.instructions.text == "" {
		return nil
	}
	return s.to.Note(foreign.Note{
		Place: s.instructions.place, Name: "chatgpt/custom-instructions", Content: s.instructions.text, UpdatedAt: s.instructions.at,
	})
}

// instructions returns the custom instructions as a document; "" for none.
func instructions(c content) string {
	var b strings.Builder
	for _, part := range [][2]string{{"About the user", c.UserProfile}, {"How to answer", c.UserInstructions}} {
		if text := fenced(part[1]); text != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", part[0], text)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "# Custom instructions\n" + b.String()
}

// fenced returns the text in a fence that ends s. ChatGPT puts a sentence for the model before it.
func fenced(s string) string {
	s = strings.TrimSpace(s)
	before, rest, _ := strings.Cut(s, "```")
	inside, ok := strings.CutSuffix(rest, "```")
	if !ok || !strings.HasPrefix(before, "The user provided") {
		return s
	}
	return strings.TrimSpace(inside)
}
