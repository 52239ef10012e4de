package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

func memoryOperations() []operation {
	return []operation{
		{name: "write", weight: 30, needs: []part{longTerm}, run: (*history).write},
		{name: "write again", weight: 6, needs: []part{longTerm, memories}, run: (*history).writeAgain},
		{name: "repeat", weight: 4, needs: []part{longTerm}, run: (*history).repeat},
		{name: "batch", weight: 4, needs: []part{batches}, run: (*history).batch},
		{name: "edit", weight: 14, needs: []part{edits, memories}, run: (*history).edit},
		{name: "delete", weight: 7, needs: []part{longTerm}, run: (*history).delete},
		{name: "erase", weight: 3, needs: []part{erasure}, run: (*history).erase},
	}
}

// The vocabularies are small, so that things collide.

func (h *history) content() string {
	words := []string{
		"alpha", "alphabet", "beta", "running", "runs", "café", "cafe", "Norway",
		"数据库", "数据", "東京", "snake_case", "HTTPServer", "the", "it's",
	}
	n := 1 + h.rng.IntN(3)
	out := make([]string, n)
	for i := range out {
		out[i] = oneOf(h, words...)
	}
	return strings.Join(out, " ")
}

func (h *history) identities() amber.Identities {
	maybe := func(values ...string) string {
		if h.chance(0.3) {
			return ""
		}
		return oneOf(h, values...)
	}
	session := amber.SessionID("")
	if h.chance(0.7) {
		session = oneOf(h, h.sessions...)
	}
	return amber.Identities{SessionID: session, UserID: maybe("ada", "bob"), ProjectID: maybe("p1", "p2"), WorkspaceID: maybe("w1", "w2")}
}

func (h *history) tags() []string {
	var out []string
	for _, t := range []string{"red", "green", "blue"} {
		if h.chance(0.3) {
			out = append(out, t)
		}
	}
	return out
}

func (h *history) metadata() map[string]string {
	if h.chance(0.6) {
		return nil
	}
	return map[string]string{oneOf(h, "k1", "k2"): oneOf(h, "v1", "v2\n")}
}

// request returns a write, most often a valid one.
func (h *history) request() amber.WriteRequest {
	r := amber.WriteRequest{
		Kind: oneOf(h, append(amber.MemoryKinds(), "")...), Scope: oneOf(h, append(amber.Scopes(), "", amber.ScopeGlobal)...),
		Identities: h.identities(), Title: oneOf(h, "", "", "Alpha", "Beta title"), Content: h.content(), Summary: oneOf(h, "", "in short"),
		Tags: h.tags(), Metadata: h.metadata(),
		Trust: h.trust(), Author: oneOf(h, amber.Author{}, amber.Author{Host: "claude-code", Session: "s"}),
	}
	if h.chance(0.5) {
		r.Kind = amber.WorkspaceFact
	}
	if h.chance(0.2) {
		r.SourceRefs = []amber.SourceRef{{Kind: "file", Value: "a.go"}}
	}
	if h.chance(0.35) {
		r.Topic = oneOf(h, "plan", "Release Plan", "release-plan")
	}
	if h.chance(0.15) {
		r.IdempotencyKey = oneOf(h, "key-1", "key-2", "key-3")
	}
	if h.chance(0.1) {
		h.dated++ // no two at one time, since ids decide their order then
		r.CreatedAt = amber.At(start()).Add(-time.Duration(h.dated) * time.Hour)
	}
	if h.chance(0.03) {
		r.Kind = "rumour"
	}
	if h.chance(0.02) {
		r.Content = "a\x00b"
	}
	return r
}

func (h *history) write() { h.send(h.request()) }

// send writes one request and remembers the memory.
func (h *history) send(r amber.WriteRequest) {
	h.note("%s", text(tree(r)))
	got, ok := ask(h, func(w *world) (amber.WriteAck, error) { return w.LongTerm.Write(w.ctx, r) })
	if ok {
		h.written(got)
	}
	if r.IdempotencyKey != "" {
		h.keyed = append(h.keyed, r)
	}
}

// repeat sends one of the last requests with an idempotency key again.
func (h *history) repeat() {
	if n := len(h.keyed); n > 0 {
		h.send(h.keyed[max(0, n-1-h.rng.IntN(4))])
	}
}

// written compares the answers to a write.
func (h *history) written(got pair[amber.WriteAck]) {
	m, s := got[h.model], got[h.subject]
	h.bind(string(m.ID), string(s.ID))
	same(h, got, "answer to a write")
	h.stamped(pair[string]{h.model: string(m.ID), h.subject: string(s.ID)}, pair[amber.Origin]{h.model: m.Origin, h.subject: s.Origin})
	h.know(pair[amber.MemoryID]{h.model: m.ID, h.subject: s.ID})
}

// know remembers a memory for later operations.
func (h *history) know(id pair[amber.MemoryID]) {
	for _, k := range h.memories {
		if k[h.model] == id[h.model] {
			return
		}
	}
	h.memories = append(h.memories, id)
}

// trust is any, "" too.
func (h *history) trust() amber.Trust { return oneOf(h, append(amber.Trusts(), "")...) }

// writeAgain writes what a memory holds already, so that it is a duplicate.
func (h *history) writeAgain() {
	m, err := h.model.Memories.Get(h.model.ctx, h.someMemory()[h.model])
	if err != nil {
		h.write()
		return
	}
	r := amber.WriteRequest{Kind: m.Kind, Scope: m.Scope, Identities: m.Identities, Title: m.Title, Content: m.Content, Tags: h.tags(), Metadata: h.metadata(), Summary: oneOf(h, "", "in short", "shorter"), Trust: oneOf(h, "", m.Trust, h.trust())}
	if h.chance(0.5) {
		r.Topic = m.Topic
	}
	if h.chance(0.2) {
		r.IdempotencyKey = oneOf(h, "key-1", "key-2", "key-3")
	}
	h.send(r)
}

func (h *history) batch() {
	rs := make([]amber.WriteRequest, 1+h.rng.IntN(5))
	for i := range rs {
		rs[i] = h.request()
	}
	h.note("%s", text(tree(rs)))
	got, ok := ask(h, func(w *world) ([]amber.WriteAck, error) { return w.Batch.WriteBatch(w.ctx, rs) })
	if !ok {
		return
	}
	equal(len(got[h.subject]), len(rs), "number of answers of a batch")
	for i := range rs {
		h.written(pair[amber.WriteAck]{h.model: got[h.model][i], h.subject: got[h.subject][i]})
	}
}

// someMemory returns a memory that was written, whatever became of it, or one
// that never was.
func (h *history) someMemory() pair[amber.MemoryID] {
	if len(h.memories) == 0 || h.chance(0.03) {
		return pair[amber.MemoryID]{h.model: unknownID, h.subject: unknownID}
	}
	// The newest are the most likely ones to be live.
	n := len(h.memories)
	if h.chance(0.5) {
		return h.memories[max(0, n-1-h.rng.IntN(5))]
	}
	return h.memories[h.rng.IntN(n)]
}

func (h *history) edit() {
	id := h.someMemory()
	r := amber.EditRequest{}
	if h.chance(0.5) {
		r.Content = new(h.content())
	}
	if h.chance(0.3) {
		r.Title = new(oneOf(h, "", "Alpha", "Beta title"))
	}
	if h.chance(0.2) {
		r.Kind = new(oneOf(h, append(amber.MemoryKinds(), "rumour")...))
	}
	if h.chance(0.2) {
		r.Summary = new(oneOf(h, "", "in short"))
	}
	if h.chance(0.2) {
		r.Tags = new(h.tags())
	}
	if h.chance(0.2) {
		r.Metadata = new(h.metadata())
	}
	r.Keep, r.Trust = h.chance(0.2), h.trust()
	if h.chance(0.4) {
		r.IfRevision = h.revision(id) + oneOf[int64](h, 0, 0, 0, -1, 1)
	}
	h.note("%s %s", id[h.model], text(tree(r)))
	got, ok := ask(h, func(w *world) (amber.Memory, error) {
		r.ID = id[w]
		return w.Editor.Edit(w.ctx, r)
	})
	if ok {
		same(h, got, "answer to an edit")
		h.stamped(pair[string]{h.model: string(id[h.model]), h.subject: string(id[h.subject])},
			pair[amber.Origin]{h.model: got[h.model].Origin, h.subject: got[h.subject].Origin})
	}
}

// revision returns the revision of a memory in the model, 0 if it is not
// live.
func (h *history) revision(id pair[amber.MemoryID]) int64 {
	m, err := h.model.Memories.Get(h.model.ctx, id[h.model])
	if err != nil {
		return 0
	}
	return m.Revision
}

func (h *history) delete() {
	id := h.someMemory()
	h.note("%s", id[h.model])
	do(h, func(w *world) error { return w.LongTerm.Delete(w.ctx, id[w]) })
}

func (h *history) erase() {
	id := h.someMemory()
	h.note("%s", id[h.model])
	got, ok := ask(h, func(w *world) (amber.EraseReport, error) { return w.Eraser.Erase(w.ctx, id[w]) })
	if !ok {
		return
	}
	// The words of the report are the store's own; whether there was anything
	// to remove is not.
	removed := pair[bool]{}
	for w, r := range got {
		removed[w] = len(r.Removed) > 0
	}
	same(h, removed, fmt.Sprintf("whether erasing %s removed anything", id[h.model]))
}
