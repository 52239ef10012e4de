package op

import (
	"context"
	"net/http"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/contextblock"
	"github.com/amber-memory/amber/wire"
)

// Bounds of the stored text that an operation reads. Pages end at a number of bytes, and with the record that reaches it.
const (
	HoldsText   = amber.MaxContentBytes
	HoldsState  = amber.MaxStateBytes
	HoldsPage   = amber.MaxPageBytes + amber.MaxContentBytes
	HoldsStates = amber.MaxPageBytes + amber.MaxStateBytes
)

// MemoryID names a memory.
type MemoryID struct {
	ID string `path:"id" doc:"the id of the memory"`
}

func (m MemoryID) parse() (amber.MemoryID, error) { return amber.ParseMemoryID(m.ID) }

// MemoryFilter says which memories are listed.
type MemoryFilter struct {
	Scope     amber.Scope        `query:"scope" doc:"only this scope"`
	Session   amber.SessionID    `query:"session_id" doc:"see memories of this session"`
	User      string             `query:"user_id" doc:"see memories of this user"`
	Project   string             `query:"project_id" doc:"see memories of this project"`
	Workspace string             `query:"workspace_id" doc:"see memories of this workspace"`
	Kinds     []amber.MemoryKind `query:"kind" doc:"only this kind (repeat)"`
	Tags      []string           `query:"tag" doc:"only with this tag (repeat)"`
	Since     amber.Time         `query:"since" doc:"updated at or after"`
	Until     amber.Time         `query:"until" doc:"updated before"`
}

func (f MemoryFilter) filter() amber.Filter {
	return amber.Filter{
		Scope: f.Scope, Kinds: f.Kinds, Tags: f.Tags, Since: f.Since, Until: f.Until,
		Identities: amber.Identities{SessionID: f.Session, UserID: f.User, ProjectID: f.Project, WorkspaceID: f.Workspace},
	}
}

// MemoriesIn asks for a page of memories.
type MemoriesIn struct {
	Paging
	MemoryFilter
	All     bool        `query:"all" doc:"every scope and identity"`
	Deleted bool        `query:"deleted" doc:"include tombstones"`
	Trusted bool        `query:"trusted" doc:"own and signed memories alone"`
	Trust   amber.Trust `query:"trust" doc:"of this trust or more"`
	Waiting string      `query:"waiting" doc:"those alone that wait for the owner by this rule: agents, imports or none; a server with a rule of its own goes by that"`
}

func (l MemoriesIn) query(p Paging) amber.ListQuery {
	q := amber.ListQuery{
		Filter: l.filter(), All: l.All, Deleted: l.Deleted, Trust: l.Trust, Waiting: amber.Review(l.Waiting), Limit: p.Limit, Cursor: p.Cursor,
	}
	if l.Trusted && q.Trust != amber.TrustOwn {
		q.Trust = amber.TrustSigned
	}
	return q
}

// WriteIn asks to store a memory.
type WriteIn struct {
	Key  string             `header:"Idempotency-Key" doc:"the same key gets the same answer for 7 days"`
	Body amber.WriteRequest `body:"json"`
}

// repeats: the store knows a memory by its key.
func (w WriteIn) repeats() bool { return w.Key != "" || w.Body.IdempotencyKey != "" }

// MemoryWrite stores a memory.
var MemoryWrite = do(Row{
	ID: "memory.write", HTTP: "POST /memories", Scope: wire.TokenWrite, Kind: Changes | OwnKey | Bound | Tagged, Status: http.StatusCreated,
	Fails: []amber.Kind{amber.KindQuota}, Sure: []string{"id"}, Doc: "Store one memory",
}, func(ctx context.Context, c *Call, in WriteIn) (amber.WriteAck, error) {
	switch r := &in.Body; {
	case r.IdempotencyKey == "":
		r.IdempotencyKey = in.Key
	case in.Key != "" && in.Key != r.IdempotencyKey:
		return amber.WriteAck{}, Invalid("Idempotency-Key of the header differs from idempotency_key of the body")
	}
	ack, err := c.Store.LongTerm.Write(ctx, in.Body)
	c.Tag, c.Subject = revision(ack.Revision), string(ack.ID)
	return ack, err
})

// WriteBatchIn asks to store several memories.
type WriteBatchIn struct {
	Body struct {
		Items []amber.WriteRequest `json:"items"`
	} `body:"json"`
}

// MemoryWriteBatch stores several memories.
var MemoryWriteBatch = do(Row{
	ID: "memory.write_batch", HTTP: "POST /memories/batch", Scope: wire.TokenWrite, Kind: Changes | Bound,
	Fails: []amber.Kind{amber.KindQuota}, Doc: "Store several memories, all or none",
}, func(ctx context.Context, c *Call, in WriteBatchIn) (amber.Page[amber.WriteAck], error) {
	acks, err := c.Store.Batch.WriteBatch(ctx, in.Body.Items)
	for _, ack := range acks {
		c.Did = append(c.Did, string(ack.ID))
	}
	return items(acks, err)
})

// MemoryRecall finds memories and passages.
var MemoryRecall = do(Row{
	ID: "memory.recall", HTTP: "POST /recall", Scope: wire.TokenRead, Kind: Bound, Holds: HoldsPage,
	Sure: []string{"hits"}, Doc: "Find the memories and passages of sessions that best answer a text",
}, func(ctx context.Context, c *Call, in Payload[amber.Query]) (amber.RecallResult, error) {
	return c.Store.LongTerm.Recall(ctx, in.Body)
})

// MemoryList lists memories.
var MemoryList = list(Row{
	ID: "memory.list", HTTP: "GET /memories", Scope: wire.TokenRead, Kind: Bound, Doc: "List memories, newest first",
}, func(ctx context.Context, c *Call, in MemoriesIn, p Paging) (amber.Page[amber.Memory], error) {
	return c.Store.Memories.List(ctx, in.query(p))
})

// MemoryGet reads a memory.
var MemoryGet = do(Row{
	ID: "memory.get", HTTP: "GET /memories/{id}", Scope: wire.TokenRead, Kind: Bound | Tagged, Holds: HoldsText, Sure: []string{"id=id"}, Doc: "Read one memory",
}, func(ctx context.Context, c *Call, in MemoryID) (amber.Memory, error) {
	return c.memory(in, func(id amber.MemoryID) (amber.Memory, error) { return c.Store.Memories.Get(ctx, id) })
})

// EditIn asks to change a memory.
type EditIn struct {
	MemoryID
	IfMatch string            `header:"If-Match" doc:"the ETag the edit is based on"`
	Body    amber.EditRequest `body:"json"`
}

// MemoryEdit changes fields of a memory.
var MemoryEdit = do(Row{
	ID: "memory.edit", HTTP: "PATCH /memories/{id}", Scope: wire.TokenWrite, Kind: Changes | Bound | Tagged, Holds: HoldsText,
	Sure: []string{"id=id"}, Doc: "Change fields of a memory",
}, func(ctx context.Context, c *Call, in EditIn) (amber.Memory, error) {
	return c.memory(in.MemoryID, func(id amber.MemoryID) (amber.Memory, error) {
		r, err := in.Body, error(nil)
		if r.ID != "" && r.ID != id {
			return amber.Memory{}, Invalid("the body names another memory than the path")
		}
		r.ID = id
		if r.IfRevision, err = expected(in.IfMatch, r.IfRevision); err != nil {
			return amber.Memory{}, err
		}
		return c.Store.Editor.Edit(ctx, r)
	})
})

// MemoryForget deletes a memory.
var MemoryForget = do(Row{
	ID: "memory.forget", HTTP: "DELETE /memories/{id}", Scope: wire.TokenWrite, Kind: Changes | Repeats | Bound | Keyed,
	Doc: "Delete a memory; a tombstone stays",
}, func(ctx context.Context, c *Call, in MemoryID) (None, error) {
	id, err := in.parse()
	if err == nil {
		err = c.Store.LongTerm.Delete(ctx, id)
	}
	return None{}, err
})

// MemoryErase removes the text of a memory.
var MemoryErase = do(Row{
	ID: "memory.erase", HTTP: "POST /memories/{id}/erase", Scope: wire.TokenErase, Kind: Changes | Repeats | Lasting | Long | Bound,
	Doc: "Remove the text of a memory for good",
}, func(ctx context.Context, c *Call, in MemoryID) (amber.EraseReport, error) {
	id, err := in.parse()
	if err != nil {
		return amber.EraseReport{}, err
	}
	report, err := c.Store.Eraser.Erase(ctx, id)
	told := Placeless(c.Caller, report)
	if !slices.Equal(told.Remaining, report.Remaining) {
		c.House.Log.WarnContext(ctx, "copies of an erased memory remain", "tenant", c.Tenant, "agent", c.ID, "id", id, "remaining", report.Remaining)
	}
	return told, err
})

// HistoryIn asks for the revisions of a memory.
type HistoryIn struct {
	MemoryID
	Paging
}

// MemoryHistory lists the revisions of a memory.
var MemoryHistory = list(Row{
	ID: "memory.history", HTTP: "GET /memories/{id}/history", Scope: wire.TokenRead, Kind: Bound, Doc: "Read every revision of a memory",
}, func(ctx context.Context, c *Call, in HistoryIn, p Paging) (amber.Page[amber.Memory], error) {
	id, err := in.parse()
	if err != nil {
		return amber.Page[amber.Memory]{}, err
	}
	return c.Store.Memories.History(ctx, id, p.paging())
})

// TimelineIn asks what was stored around a memory.
type TimelineIn struct {
	MemoryID
	Before int `query:"before" doc:"how many older memories"`
	After  int `query:"after" doc:"how many newer memories"`
}

// MemoryTimeline lists the memories around a memory.
var MemoryTimeline = do(Row{
	ID: "memory.timeline", HTTP: "GET /memories/{id}/timeline", Scope: wire.TokenRead, Kind: Bound, Holds: 2 * HoldsPage,
	Doc: "List the memories that were stored just before and after a memory",
}, func(ctx context.Context, c *Call, in TimelineIn) (amber.Page[amber.Memory], error) {
	id, err := in.parse()
	if err != nil {
		return amber.Page[amber.Memory]{}, err
	}
	return items(c.Store.Memories.Timeline(ctx, id, in.Before, in.After))
})

// MemoryContext builds the block of memory before a prompt.
var MemoryContext = do(Row{
	ID: "memory.context", HTTP: "POST /context", Scope: wire.TokenRead, Kind: Bound, Holds: HoldsPage,
	Sure: []string{"memories"}, Doc: "Build the block of memory that is put before a prompt",
}, func(ctx context.Context, c *Call, in Payload[wire.ContextRequest]) (wire.ContextBlock, error) {
	return contextblock.Build(ctx, c.Store, c.Policy, in.Body, c.Random)
})

// memory answers with one memory and its ETag.
func (c *Call) memory(in MemoryID, fn func(id amber.MemoryID) (amber.Memory, error)) (amber.Memory, error) {
	id, err := in.parse()
	if err != nil {
		return amber.Memory{}, err
	}
	m, err := fn(id)
	c.Tag = revision(m.Revision)
	return m, err
}
