package claudecode

import (
	"context"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// eachKept reads a transcript again and calls fn with the lines that the given conversations keep.
func (t *transcript) eachKept(ctx context.Context, wanted func(chat int32) bool, fn func(i int32, l *line) error) error {
	needs := func(r *record) bool { return r.is(kept) && wanted(r.chat) }
	end := len(t.records)
	for end > 0 && !needs(&t.records[end-1]) {
		end--
	}
	next := 0
	return t.file.EachLine(ctx, foreign.Quiet, func(n int64, b []byte) error { // the first reading reported what cannot be read
		if next == end {
			return foreign.ErrEnough
		}
		if t.records[next].line != int32(n) {
			return nil
		}
		next++
		if !needs(&t.records[next-1]) {
			return nil
		}
		l, err := parseLine(b)
		if err != nil {
			return nil // the file has changed meanwhile
		}
		return fn(int32(next-1), &l)
	})
}

// teller makes turns of the lines of one conversation.
type teller struct {
	t       *transcript
	session string
	cwd     string
	at      amber.Time    // of the last line that had one
	open    *foreign.Turn // an answer that has not ended
	texts   []string      // of the open answer
	known   map[string]bool
	used    map[string]bool   // tool uses of the open answer
	held    []foreign.Turn    // results that came meanwhile
	failing map[uint64]string // names of tools whose failure comes
	tell    func(foreign.Turn) error
}

func newTeller(t *transcript, session, cwd string, tell func(foreign.Turn) error) *teller {
	return &teller{t: t, session: session, cwd: cwd, at: t.file.ModifiedAt(), failing: map[uint64]string{}, tell: tell}
}

// line gives out the turns that a line makes.
func (w *teller) line(i int32, l *line) error {
	r := &w.t.records[i]
	if r.at != 0 {
		w.at = amber.UnixMilli(r.at)
	}
	if l.cwd != "" {
		w.cwd = l.cwd
	}
	s, err := l.said()
	if err != nil {
		return nil // told at the first reading
	}
	if len(s.answer) > 0 {
		w.answer(i, l, s.answer)
		if r.is(ends) {
			return w.end()
		}
		return nil
	}
	if err := w.results(i, l, &s); err != nil {
		return err
	}
	switch {
	case s.prompt != "":
		return w.tell(w.turn(i, l, amber.RoleUser, s.prompt))
	case s.compaction != "":
		turn := w.turn(i, l, amber.RoleSystem, "")
		turn.Compaction = s.compaction
		return w.tell(turn)
	}
	return nil
}

// results gives out what the tools answered, behind the answer of the model that called them.
func (w *teller) results(i int32, l *line, s *said) error {
	result := s.result()
	if result == "" {
		return nil
	}
	turn := w.turn(i, l, amber.RoleTool, result)
	if s.prompt != "" {
		turn.Key = append(turn.Key, "results")
	}
	turn.Activity = w.failures(s.results)
	if w.open == nil {
		return w.tell(turn)
	}
	w.held = append(w.held, turn)
	return nil
}

func (w *teller) turn(i int32, l *line, role amber.Role, content string) foreign.Turn {
	return foreign.Turn{
		Place: w.t.file.Line(int64(w.t.records[i].line)), Key: w.key(i, l), Role: role, Content: content, At: w.at,
	}
}

// key names a line by its uuid, which stays with it where it is copied.
func (w *teller) key(i int32, l *line) foreign.Key {
	if l.uuid != "" {
		return foreign.Key{l.uuid}
	}
	return foreign.Key{w.session, w.t.file.Line(int64(w.t.records[i].line)).At}
}

// answer adds blocks to the open answer. A line may repeat blocks of the one before, some of them grown.
func (w *teller) answer(i int32, l *line, blocks []foreign.Block) {
	if w.open == nil {
		turn := w.turn(i, l, amber.RoleAssistant, "")
		w.open, w.texts, w.known, w.used = &turn, nil, map[string]bool{}, map[string]bool{}
	}
	before, nth := len(w.texts), 0
	for _, b := range blocks {
		if b.Type == "text" {
			w.text(strings.TrimSpace(b.Text), nth, before)
			nth++
		} else if b.ID == "" || !w.used[b.ID] {
			w.used[b.ID] = true
			w.use(b)
		}
	}
}

// text adds the nth text of a line to those that the lines before had, so many.
func (w *teller) text(s string, nth, before int) {
	if w.known[s] {
		return
	}
	w.known[s] = true
	if nth < before && strings.HasPrefix(s, w.texts[nth]) {
		w.texts[nth] = s
		return
	}
	w.texts = append(w.texts, s)
}

func (w *teller) use(b foreign.Block) {
	id := short(b.ID)
	outcome := foreign.Unknown
	if failed, over := w.t.overs[id]; failed {
		outcome, w.failing[id] = foreign.Failed, b.Name
	} else if over {
		outcome = foreign.Completed
	}
	w.open.Activity = append(w.open.Activity, b.Activity(w.cwd, outcome)...)
}

// failures returns what tools that failed have said.
func (w *teller) failures(blocks []foreign.Block) (out []amber.Activity) {
	for _, b := range blocks {
		id := short(b.ToolUseID)
		if tool, ok := w.failing[id]; ok && b.IsError {
			delete(w.failing, id)
			out = append(out, foreign.Failure(tool, b.Plain()))
		}
	}
	return out
}

// end gives out the open answer, and then the turns that waited for it.
func (w *teller) end() error {
	turn, held := w.open, w.held
	w.open, w.held = nil, nil
	if turn == nil {
		return nil
	}
	turn.Content = strings.Join(w.texts, "\n\n")
	if err := w.tell(*turn); err != nil {
		return err
	}
	for _, h := range held {
		if err := w.tell(h); err != nil {
			return err
		}
	}
	return nil
}
