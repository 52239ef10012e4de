package claudecode

import "math"

// maxHeld bounds an answer that comes in many lines, and the results of tools that wait in memory for its end.
const maxHeld = 8 << 20

// counter counts the turns that the lines of a conversation make.
type counter struct {
	turns       int64
	first, last int64  // times, in milliseconds
	state       int32  // record of the last line
	open        uint64 // the answer that has not ended
	openAt      int32  // its last line so far
	held        int64  // bytes of that answer and of what waits for its end
}

// plan decides which lines belong to the conversations, and counts their turns. Lines in seen were read in another file.
func (t *transcript) plan(seen *known) {
	t.follow()
	for i := range t.chats {
		t.chats[i].count = counter{state: -1, first: math.MaxInt64}
	}
	for i := range t.records {
		r := &t.records[i]
		if r.is(kept) && r.does&^(kept|speaks) != 0 && seen.add(r.uuid) {
			t.count(int32(i))
		} else {
			r.does &^= kept
		}
	}
	for i := range t.chats {
		t.close(&t.chats[i].count)
	}
}

// count adds a line to its conversation. An answer goes on until the user speaks, or another one begins; results of
// tools that come meanwhile wait.
func (t *transcript) count(i int32) {
	r := &t.records[i]
	c := &t.chats[r.chat].count
	c.state = i
	if r.at != 0 {
		c.first, c.last = min(c.first, r.at), max(c.last, r.at)
	}
	if r.is(answers) {
		t.countAnswer(c, i)
		return
	}
	for _, turn := range []does{results, prompts, compact} {
		if r.is(turn) {
			c.turns++
		}
	}
	c.held += int64(r.bytes)
	if r.is(prompts|compact) || c.held > maxHeld {
		t.close(c)
	}
}

func (t *transcript) countAnswer(c *counter, i int32) {
	r := &t.records[i]
	if c.open == 0 || c.open != r.message || c.held+int64(r.bytes) > maxHeld {
		t.close(c)
		c.turns++
	}
	c.open, c.openAt = r.message, i
	c.held += int64(r.bytes)
	if r.message == 0 {
		r.does |= ends
	}
}

// close ends the open answer of a conversation.
func (t *transcript) close(c *counter) {
	if c.open != 0 {
		t.records[c.openAt].does |= ends
	}
	c.open, c.held = 0, 0
}

// follow marks what belongs to the conversations. A conversation that was taken back and led on elsewhere has branches:
// the one that the last line is on counts. Where lines are missing, or the conversation begins more than once, all lines
// count.
func (t *transcript) follow() {
	for i := range t.records {
		t.records[i].does |= kept
	}
	last, whole := t.whole()
	if !whole {
		return
	}
	for i := range t.records {
		if r := &t.records[i]; r.chat == 0 && r.uuid != 0 {
			r.does &^= kept
		}
	}
	for i := last; ; {
		t.records[i].does |= kept
		parent, ok := t.index[t.records[i].parent]
		if !ok || parent >= i {
			break
		}
		i = parent
	}
	t.siblings()
}

// whole reports whether every line of the conversation leads to one first line, and returns the last line.
func (t *transcript) whole() (last int32, ok bool) {
	roots := make([]int32, len(t.records)) // the first line that each leads to; -1 where lines are missing
	root := int32(-1)
	last = -1
	for i := range t.records {
		r := &t.records[i]
		roots[i] = int32(i)
		if r.parent != 0 {
			roots[i] = -1
			if parent, ok := t.index[r.parent]; ok && parent < int32(i) {
				roots[i] = roots[parent]
			}
		}
		if r.chat != 0 || r.uuid == 0 || !r.is(speaks) {
			continue
		}
		if roots[i] < 0 || last >= 0 && roots[i] != root {
			return 0, false
		}
		root, last = roots[i], int32(i)
	}
	return last, last >= 0
}

// siblings marks lines beside the branch that belong to it: the other lines of its answers, the results of tools that ran
// at the same time, each of which follows the line that asked for it, and what the user typed meanwhile.
func (t *transcript) siblings() {
	messages := map[uint64]bool{}
	beside := false
	for i := range t.records {
		switch r := &t.records[i]; {
		case r.is(kept) && r.chat == 0:
			messages[r.message] = true
		case !r.is(kept):
			beside = true
		}
	}
	if !beside {
		return
	}
	delete(messages, 0)
	for i := range t.records {
		r := &t.records[i]
		if r.chat != 0 || r.is(kept) {
			continue
		}
		switch parent, ok := t.index[r.parent]; {
		case r.is(answers) && messages[r.message]:
			r.does |= kept
		case ok && r.aside() && t.records[parent].is(kept):
			r.does |= kept
		}
	}
}

// aside reports whether a line belongs to the line that it follows: it has results of tools, or a prompt that is in no line
// of a user's type, because the user typed it while the agent worked.
func (r *record) aside() bool {
	if r.is(prompts) {
		return !r.is(speaks)
	}
	return r.is(results)
}

// known are lines of any file that were read.
type known struct{ ids map[uint64]struct{} }

// maxKnown bounds the memory that this takes.
const maxKnown = 4 << 20

// add notes a line and reports whether it is new.
func (k *known) add(uuid uint64) bool {
	if uuid == 0 {
		return true
	}
	if _, ok := k.ids[uuid]; ok {
		return false
	}
	if len(k.ids) < maxKnown {
		k.ids[uuid] = struct{}{}
	}
	return true
}
