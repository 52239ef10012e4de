package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/block"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// memoryID is in the path of what concerns one memory.
type memoryID struct {
	ID string `path:"id" doc:"the id of the memory"`
}

func (m memoryID) parse() (amber.MemoryID, error) { return amber.ParseMemoryID(m.ID) }

// filter is in the query of listings of memories.
type filter struct {
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

func (f filter) filter() amber.Filter {
	return amber.Filter{
		Scope: f.Scope, Kinds: f.Kinds, Tags: f.Tags, Since: f.Since, Until: f.Until,
		Identities: amber.Identities{SessionID: f.Session, UserID: f.User, ProjectID: f.Project, WorkspaceID: f.Workspace},
	}
}

// listing is the query of a listing of memories.
type listing struct {
	paging
	filter
	All     bool        `query:"all" doc:"every scope and identity"`
	Deleted bool        `query:"deleted" doc:"include tombstones"`
	Trusted bool        `query:"trusted" doc:"own and signed memories alone"`
	Trust   amber.Trust `query:"trust" doc:"of this trust or more"`
	Waiting string      `query:"waiting" doc:"those alone that wait for the owner by this rule: agents, imports or none; a server with a rule of its own goes by that"`
}

func (l listing) query(p paging) amber.ListQuery {
	q := amber.ListQuery{
		Filter: l.filter.filter(), All: l.All, Deleted: l.Deleted, Trust: l.Trust, Waiting: amber.Review(l.Waiting), Limit: p.Limit, Cursor: p.Cursor,
	}
	if l.Trusted && q.Trust != amber.TrustOwn {
		q.Trust = amber.TrustSigned
	}
	return q
}

// memoryRoutes serve long-term memory.
func memoryRoutes(a *API) {
	type write struct {
		Key  string             `header:"Idempotency-Key" doc:"the same key gets the same answer for 7 days"`
		Body amber.WriteRequest `body:"json"`
	}
	handle(a, operation{
		id: "memory.write", bound: true, method: "POST", path: agentPath + "/memories", scope: wire.TokenWrite, mutates: true, ownKey: true,
		status: http.StatusCreated, summary: "Store one memory",
	}, func(ctx context.Context, ag *server.Agent, in write) (answer[amber.WriteAck], error) {
		switch r := &in.Body; {
		case r.IdempotencyKey == "":
			r.IdempotencyKey = in.Key
		case in.Key != "" && in.Key != r.IdempotencyKey:
			return answer[amber.WriteAck]{}, invalid("Idempotency-Key of the header differs from idempotency_key of the body")
		}
		ack, err := ag.Store.LongTerm.Write(ctx, in.Body)
		return answer[amber.WriteAck]{body: ack, etag: revision(ack.Revision), subject: string(ack.ID)}, err
	})

	type batch struct {
		Body struct {
			Items []amber.WriteRequest `json:"items"`
		} `body:"json"`
	}
	handle(a, operation{
		id: "memory.write_batch", bound: true, method: "POST", path: agentPath + "/memories/batch", scope: wire.TokenWrite, mutates: true,
		summary: "Store several memories, all or none",
	}, func(ctx context.Context, ag *server.Agent, in batch) (answer[amber.Page[amber.WriteAck]], error) {
		acks, err := ag.Store.Batch.WriteBatch(ctx, in.Body.Items)
		out, err := items(acks, err)
		for _, ack := range acks {
			out.each = append(out.each, string(ack.ID))
		}
		return out, err
	})

	handle(a, operation{
		id: "memory.recall", bound: true, method: "POST", path: agentPath + "/recall", scope: wire.TokenRead, summary: "Find the memories and passages of sessions that best answer a text",
	}, func(ctx context.Context, ag *server.Agent, in payload[amber.Query]) (answer[amber.RecallResult], error) {
		return got(ag.Store.LongTerm.Recall(ctx, in.Body))
	})

	handleList(a, operation{
		id: "memory.list", bound: true, method: "GET", path: agentPath + "/memories", scope: wire.TokenRead, summary: "List memories, newest first",
	}, func(ctx context.Context, ag *server.Agent, in listing, p paging) (amber.Page[amber.Memory], error) {
		return ag.Store.Memories.List(ctx, in.query(p))
	})

	handle(a, operation{
		id: "memory.get", bound: true, method: "GET", path: agentPath + "/memories/{id}", scope: wire.TokenRead, summary: "Read one memory",
	}, func(ctx context.Context, ag *server.Agent, in memoryID) (answer[amber.Memory], error) {
		return withMemory(in, func(id amber.MemoryID) (amber.Memory, error) { return ag.Store.Memories.Get(ctx, id) })
	})

	type edit struct {
		memoryID
		IfMatch string            `header:"If-Match" doc:"the ETag the edit is based on"`
		Body    amber.EditRequest `body:"json"`
	}
	handle(a, operation{
		id: "memory.edit", bound: true, method: "PATCH", path: agentPath + "/memories/{id}", scope: wire.TokenWrite, mutates: true, summary: "Change fields of a memory",
	}, func(ctx context.Context, ag *server.Agent, in edit) (answer[amber.Memory], error) {
		return withMemory(in.memoryID, func(id amber.MemoryID) (amber.Memory, error) {
			r, err := in.Body, error(nil)
			if r.ID != "" && r.ID != id {
				return amber.Memory{}, invalid("the body names another memory than the path")
			}
			r.ID = id
			if r.IfRevision, err = expected(in.IfMatch, r.IfRevision); err != nil {
				return amber.Memory{}, err
			}
			return ag.Store.Editor.Edit(ctx, r)
		})
	})

	handle(a, operation{
		id: "memory.forget", bound: true, method: "DELETE", path: agentPath + "/memories/{id}", scope: wire.TokenWrite, mutates: true, repeatable: true,
		summary: "Delete a memory; a tombstone stays",
	}, func(ctx context.Context, ag *server.Agent, in memoryID) (answer[nothing], error) {
		id, err := in.parse()
		if err == nil {
			err = ag.Store.LongTerm.Delete(ctx, id)
		}
		return done(err)
	})

	handle(a, operation{
		id: "memory.erase", bound: true, method: "POST", path: agentPath + "/memories/{id}/erase", scope: wire.TokenErase, mutates: true, repeatable: true, lasting: true,
		long: true, summary: "Remove the text of a memory for good",
	}, func(ctx context.Context, ag *server.Agent, in memoryID) (answer[amber.EraseReport], error) {
		id, err := in.parse()
		if err != nil {
			return answer[amber.EraseReport]{}, err
		}
		report, err := ag.Store.Eraser.Erase(ctx, id)
		told := placeless(ctx, report)
		if !slices.Equal(told.Remaining, report.Remaining) {
			a.o.Log.WarnContext(ctx, "copies of an erased memory remain", "tenant", ag.Tenant, "agent", ag.ID, "id", id, "remaining", report.Remaining)
		}
		return got(told, err)
	})

	type history struct {
		memoryID
		paging
	}
	handleList(a, operation{
		id: "memory.history", bound: true, method: "GET", path: agentPath + "/memories/{id}/history", scope: wire.TokenRead, summary: "Read every revision of a memory",
	}, func(ctx context.Context, ag *server.Agent, in history, p paging) (amber.Page[amber.Memory], error) {
		id, err := in.parse()
		if err != nil {
			return amber.Page[amber.Memory]{}, err
		}
		return ag.Store.Memories.History(ctx, id, p.paging())
	})

	type timeline struct {
		memoryID
		Before int `query:"before" doc:"how many older memories"`
		After  int `query:"after" doc:"how many newer memories"`
	}
	handle(a, operation{
		id: "memory.timeline", bound: true, method: "GET", path: agentPath + "/memories/{id}/timeline", scope: wire.TokenRead, summary: "List the memories that were stored just before and after a memory",
	}, func(ctx context.Context, ag *server.Agent, in timeline) (answer[amber.Page[amber.Memory]], error) {
		id, err := in.parse()
		if err != nil {
			return answer[amber.Page[amber.Memory]]{}, err
		}
		return items(ag.Store.Memories.Timeline(ctx, id, in.Before, in.After))
	})

	handle(a, operation{
		id: "memory.context", bound: true, method: "POST", path: agentPath + "/context", scope: wire.TokenRead, summary: "Build the block of memory that is put before a prompt",
	}, func(ctx context.Context, ag *server.Agent, in payload[wire.ContextRequest]) (answer[wire.ContextBlock], error) {
		return got(block.Build(ctx, ag.Store, ag.Policy, in.Body, ag.Random))
	})
}

// withMemory answers with one memory and its ETag.
func withMemory(in memoryID, fn func(id amber.MemoryID) (amber.Memory, error)) (answer[amber.Memory], error) {
	id, err := in.parse()
	if err != nil {
		return answer[amber.Memory]{}, err
	}
	m, err := fn(id)
	return tagged(m, revision(m.Revision), err)
}

// revision is the entity tag of a revision or version.
func revision(n int64) string { return strconv.FormatInt(n, 10) }

// expected returns the revision that If-Match or the body asks for, 0 for any.
// Errors: invalid when they differ; conflict for a tag that is no revision, so
// it is not the one that is stored.
func expected(header string, body int64) (int64, error) {
	tag, err := ifMatch(header)
	if err != nil || tag == "" {
		return body, err
	}
	n, err := strconv.ParseInt(tag, 10, 64)
	switch {
	case err != nil || n <= 0:
		return 0, amber.Errorf(amber.KindConflict, bindOp, "", "If-Match differs from the tag of the stored memory")
	case body != 0 && body != n:
		return 0, invalid("If-Match and the body expect different revisions")
	}
	return n, nil
}
