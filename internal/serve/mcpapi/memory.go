package mcpapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/internal/recall/block"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// memoryTools are those every agent wants.
func memoryTools() []*tool {
	return []*tool{
		define("memory_save", "Save a memory",
			"Store one fact worth knowing in later sessions, as soon as you learn it: a decision and why, a preference, a fix, a constraint. Saving a topic again revises its memory.",
			writing, hints{again: true},
			object(
				must(str("content")), str("title", "a few words"), kindArg(), scopeArg(), projectArg(),
				str("topic", "stable name, as in build/cache"), list("tags", nil), sessionArg(), userArg(), workspaceArg(),
			),
			object(str("id"), num("revision"), str("scope"), flag("deduplicated"), list("added", nil), list("not_taken", nil)),
			saveMemory),
		define("memory_recall", "Search memory",
			"Search memories and past sessions in your own words before you ask or decide anew. Returns snippets; memory_get has the whole.",
			reading, hints{},
			object(must(str("query")), num("limit", "default 8, at most 64"), scopeArg(), projectArg(), kindArg(), str("session", "see its memories too"), userArg(), workspaceArg(), layersArg()),
			object(list("hits", briefSchema())),
			recallMemory),
		define("memory_get", "Read a memory",
			"Read one memory by id. Long ones: again with offset = next_offset.",
			reading, hints{},
			object(must(str("id")), num("offset")),
			object(str("id"), str("title"), str("content"), str("kind"), str("scope"), str("trust"), num("revision"), flag("truncated"), num("next_offset")),
			getMemory),
		define("memory_update", "Correct a memory",
			"Change a memory that is wrong or outdated; earlier texts stay. Give only what changes.",
			writing, hints{destroys: true, again: true},
			object(must(str("id")), str("content"), str("title"), kindArg(), list("tags", nil), num("if_revision", "fail if it changed since")),
			object(str("id"), num("revision")),
			updateMemory),
		define("memory_forget", "Forget a memory",
			"Hide a memory from every search, when the user asks or it is plainly false.",
			writing, hints{destroys: true, again: true},
			object(must(str("id"))),
			object(str("id"), flag("forgotten")),
			forgetMemory),
		define("memory_context", "Brief yourself",
			"What earlier sessions know about a goal, and the last sessions. Call once when a task begins.",
			reading, hints{},
			object(str("goal"), projectArg(), userArg(), workspaceArg(), num("max_bytes", "512 to 65536, default 8192")),
			object(str("text"), list("ids", nil), num("omitted"), str("blocked"), list("cut", nil)),
			buildContext),
		define("memory_timeline", "Around a memory",
			"Memories saved around one, oldest first.",
			reading, hints{},
			object(must(str("id")), num("before", "default 3"), num("after", "default 3")),
			object(list("memories", briefSchema())),
			timeline),
		define("session_start", "Start a session",
			"Start or reopen a session; what you save then belongs to it. Not needed with hooks.",
			writing, hints{},
			object(str("id", "default: a new one"), str("name"), projectArg(), str("directory")),
			sessionSchema(),
			startSession),
		define("session_end", "End a session",
			"End the session when the work is done.",
			writing, hints{again: true},
			object(str("id", "default: yours"), str("summary")),
			sessionSchema(),
			endSession),
		define("session_summary", "Save a session summary",
			"Before you finish or context is compacted: goal, what was done and decided, what is open.",
			writing, hints{again: true},
			object(must(str("content")), str("id"), projectArg()),
			object(str("id"), str("session"), num("revision")),
			saveSummary),
	}
}

func briefSchema() *jsonschema.Schema {
	return object(str("id"), str("title"), str("snippet"), str("trust"))
}

func sessionSchema() *jsonschema.Schema {
	return object(str("id"), str("name"), str("project"), str("started_at"), str("ended_at"))
}

// namedArgs are the identities that a call may name.
type namedArgs struct{ Project, Session, User, Workspace string }

func (n namedArgs) identities() amber.Identities {
	return amber.Identities{SessionID: amber.SessionID(n.Session), UserID: n.User, ProjectID: n.Project, WorkspaceID: n.Workspace}
}

type saveArgs struct {
	namedArgs
	Content, Title, Kind, Scope, Topic string
	Tags                               []string
}

func saveMemory(ctx context.Context, b *bound, a *op.Call, in saveArgs) (answer, error) {
	return b.write(ctx, a, amber.WriteRequest{
		Kind: amber.MemoryKind(in.Kind), Scope: cmp.Or(amber.Scope(in.Scope), b.ScopeOf(in.identities())), Identities: b.Known(in.identities()),
		Title: in.Title, Content: in.Content, Topic: in.Topic, Tags: in.Tags,
	})
}

// saved is the answer to a write.
type saved struct {
	ID           amber.MemoryID  `json:"id"`
	Revision     int64           `json:"revision"`
	Scope        amber.Scope     `json:"scope"`
	Project      string          `json:"project,omitempty"`
	Session      amber.SessionID `json:"session,omitempty"`
	Deduplicated bool            `json:"deduplicated"`
	Added        []string        `json:"added,omitempty"`
	NotTaken     []string        `json:"not_taken,omitempty"`
}

// write stores a memory.
func (b *bound) write(ctx context.Context, a *op.Call, r amber.WriteRequest) (answer, error) {
	ack, err := a.Store.LongTerm.Write(ctx, r)
	if err != nil {
		return answer{}, err
	}
	text := fmt.Sprintf("Saved %s, revision %d.", ack.ID, ack.Revision)
	if ack.Deduplicated {
		text = fmt.Sprintf("The memory was stored already: %s.", ack.ID) + againText(ack)
	}
	rule, _ := a.Policy.Recall(amber.RecallInput{})
	if rule.Review.Waits(ack.Trust, ack.Scope, ack.Kind) {
		text += " It is not put before other agents until its owner keeps it (amber review)."
	}
	return answer{
		text: text, subject: string(ack.ID),
		data: saved{ack.ID, ack.Revision, ack.Scope, ack.ProjectID, ack.SessionID, ack.Deduplicated, ack.Added, ack.NotTaken},
	}, nil
}

// againText says what a write has added to a memory that was stored already, and
// what it has not.
func againText(ack amber.WriteAck) (text string) {
	if len(ack.Added) > 0 {
		text += " Added: " + strings.Join(ack.Added, ", ") + "."
	}
	if len(ack.NotTaken) > 0 {
		text += " Not taken, because the memory has others: " + strings.Join(ack.NotTaken, ", ") + "; memory_update changes them."
	}
	return text
}

type recallArgs struct {
	namedArgs
	Query, Scope, Kind string
	Limit              integer
	Layers             []amber.RecallLayer
}

func recallMemory(ctx context.Context, b *bound, a *op.Call, in recallArgs) (answer, error) {
	limit, err := in.Limit.within("limit", amber.DefaultTopK, 1, amber.MaxTopK)
	if err != nil {
		return answer{}, err
	}
	q := amber.Query{Text: in.Query, Filter: amber.Filter{Scope: amber.Scope(in.Scope), Identities: b.Known(in.identities())}, Limit: limit}
	if in.Kind != "" {
		q.Kinds = []amber.MemoryKind{amber.MemoryKind(in.Kind)}
	}
	q.Layers = in.Layers
	found, err := a.Store.LongTerm.Recall(ctx, q)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Hits     []brief          `json:"hits"`
		SetAside []amber.SetAside `json:"set_aside,omitempty"`
		Degraded string           `json:"degraded,omitempty"`
	}{briefsOfFound(found.Hits), found.SetAside, shown.OneLine(found.Degraded, snippetBytes)}
	return answer{text: printBriefs(out.Hits, "Nothing is known about that.") + leftOut(found.SetAside), data: out}, nil
}

// leftOut says which rows an answer leaves out because they cannot be read.
func leftOut(rows []amber.SetAside) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "\n%s %s cannot be read and is left out: %s", r.Table, r.ID, r.Reason)
	}
	return b.String()
}

type idArgs struct{ ID string }

type getArgs struct {
	ID     string
	Offset integer
}

func getMemory(ctx context.Context, _ *bound, a *op.Call, in getArgs) (answer, error) {
	id, err := amber.ParseMemoryID(in.ID)
	if err != nil {
		return answer{}, err
	}
	m, err := a.Store.Memories.Get(ctx, id)
	if err != nil {
		return answer{}, err
	}
	if in.Offset < 0 || int64(in.Offset) > int64(len(m.Content)) {
		return answer{}, badArgs(fmt.Sprintf("offset is %d, the text has %s", in.Offset, words.Count(len(m.Content), "byte", "bytes")))
	}
	return readMemory(m, int(in.Offset)), nil
}

// whole is one memory with a page of its text.
type whole struct {
	ID        amber.MemoryID   `json:"id"`
	Title     string           `json:"title"`
	Kind      amber.MemoryKind `json:"kind"`
	Scope     amber.Scope      `json:"scope"`
	Project   string           `json:"project,omitempty"`
	Session   amber.SessionID  `json:"session,omitempty"`
	Topic     string           `json:"topic,omitempty"`
	Tags      []string         `json:"tags,omitempty"`
	Trust     amber.Trust      `json:"trust"`
	Revision  int64            `json:"revision"`
	CreatedAt amber.Time       `json:"created_at"`
	UpdatedAt amber.Time       `json:"updated_at"`
	shown.Page
}

func readMemory(m amber.Memory, offset int) answer {
	w := whole{
		m.ID, m.Title, m.Kind, m.Scope, m.ProjectID, m.SessionID, m.Topic, m.Tags, m.Trust, m.Revision, m.CreatedAt, m.UpdatedAt,
		shown.PageAt(m.Content, offset, shown.PageBytes),
	}
	head := fmt.Sprintf("%s [%s, %s, revision %d, %s%s]", shown.OneLine(m.Title, 200), m.Kind, m.Scope, m.Revision, date(m.UpdatedAt), label(m.Trust))
	return answer{data: w, text: strings.TrimSpace(head) + "\n" + w.Marked(fmt.Sprintf("call again with offset %d", w.Next))}
}

type updateArgs struct {
	ID         string
	IfRevision integer `json:"if_revision"`
	Content    *string
	Title      *string
	Kind       *amber.MemoryKind
	Tags       *[]string
}

func updateMemory(ctx context.Context, _ *bound, a *op.Call, in updateArgs) (answer, error) {
	id, err := amber.ParseMemoryID(in.ID)
	if err != nil {
		return answer{}, err
	}
	if in.IfRevision < 0 {
		return answer{}, badArgs("if_revision is negative")
	}
	if in.Content == nil && in.Title == nil && in.Kind == nil && in.Tags == nil {
		return answer{}, badArgs("nothing is to be changed")
	}
	return editMemory(ctx, a, amber.EditRequest{
		ID: id, IfRevision: int64(in.IfRevision), Content: in.Content, Title: in.Title, Kind: in.Kind, Tags: in.Tags,
	})
}

func editMemory(ctx context.Context, a *op.Call, r amber.EditRequest) (answer, error) {
	m, err := a.Store.Editor.Edit(ctx, r)
	if err != nil {
		return answer{subject: string(r.ID)}, err
	}
	return answer{
		text: fmt.Sprintf("%s is at revision %d.", m.ID, m.Revision), subject: string(m.ID),
		data: fields{"id": m.ID, "revision": m.Revision},
	}, nil
}

func forgetMemory(ctx context.Context, _ *bound, a *op.Call, in idArgs) (answer, error) {
	id, err := amber.ParseMemoryID(in.ID)
	if err != nil {
		return answer{}, err
	}
	out := answer{text: fmt.Sprintf("%s is forgotten.", id), data: fields{"id": id, "forgotten": true}, subject: string(id)}
	return out, a.Store.LongTerm.Delete(ctx, id)
}

type contextArgs struct {
	namedArgs
	Goal     string
	MaxBytes integer `json:"max_bytes"`
}

func buildContext(ctx context.Context, b *bound, a *op.Call, in contextArgs) (answer, error) {
	size, err := in.MaxBytes.within("max_bytes", 0, 512, wire.MaxContextBytes)
	if err != nil {
		return answer{}, err
	}
	block, err := b.context(ctx, a, in.Goal, in.identities(), size)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Text    string           `json:"text"`
		IDs     []amber.MemoryID `json:"ids"`
		Omitted int              `json:"omitted"`
		Blocked string           `json:"blocked,omitempty"`
		Cut     []amber.MemoryID `json:"cut,omitempty"` // memory_get has the whole text
	}{block.Text, []amber.MemoryID{}, block.Omitted, block.Decision.BlockedReason, block.Cut}
	for _, h := range block.Memories {
		if h.ID != "" { // what was said has none
			out.IDs = append(out.IDs, h.ID)
		}
	}
	return answer{text: contextText(block), data: out}, nil
}

// context builds what an agent should know, as the policy has it.
func (b *bound) context(ctx context.Context, a *op.Call, goal string, named amber.Identities, size int) (wire.ContextBlock, error) {
	ids, waits := b.Known(named), b.Waits()
	built, err := block.Build(ctx, a.Store, a.Policy, wire.ContextRequest{
		RecallInput: amber.RecallInput{Goal: goal, Identities: ids}, MaxBytes: size,
	}, a.Random)
	if err == nil && waits {
		built.Text, err = block.WithNotice(built.Text, a.Random)
	}
	return built, err
}

func contextText(block wire.ContextBlock) string {
	switch {
	case !block.Decision.Effective:
		return "Nothing is recalled: " + block.Decision.BlockedReason + "."
	case block.Text == "":
		return "Nothing is remembered yet."
	}
	return block.Text
}

type timelineArgs struct {
	ID            string
	Before, After *integer
}

func timeline(ctx context.Context, b *bound, a *op.Call, in timelineArgs) (answer, error) {
	return timelineFor(ctx, b.Identities("", ""), a, in, 3)
}

// timelineFor shows what is around a memory and visible to ids, usual many on a
// side that the call leaves open.
func timelineFor(ctx context.Context, ids amber.Identities, a *op.Call, in timelineArgs, usual int) (answer, error) {
	id, err := amber.ParseMemoryID(in.ID)
	if err != nil {
		return answer{}, err
	}
	before, err := around("before", in.Before, usual)
	if err != nil {
		return answer{}, err
	}
	after, err := around("after", in.After, usual)
	if err != nil {
		return answer{}, err
	}
	ms, err := a.Store.Memories.Timeline(ctx, id, before, after)
	if err != nil {
		return answer{}, err
	}
	ms = slices.DeleteFunc(ms, func(m amber.Memory) bool { return m.ID != id && !ids.Sees(m.Scope, m.Identities) })
	shown := briefsOf(ms)
	return answer{text: printBriefs(shown, ""), data: fields{"memories": shown}}, nil
}

// maxAround bounds each side of a timeline.
const maxAround = 20

// around reads one side of a timeline; 0 is none.
func around(name string, n *integer, def int) (int, error) {
	if n == nil {
		return def, nil
	}
	if *n == 0 {
		return 0, nil
	}
	return n.within(name, def, 0, maxAround)
}
