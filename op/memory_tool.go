package op

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/internal/recall/contextblock"
	"github.com/amber-memory/amber/wire"
)

type memorySaveArgs struct {
	Content   string           `json:"content" need:"yes"`
	Title     string           `json:"title" doc:"a few words"`
	Kind      amber.MemoryKind `json:"kind"`
	Scope     amber.Scope      `json:"scope"`
	Project   string           `json:"project" doc:"default: current"`
	Topic     string           `json:"topic" doc:"stable name, as in build/cache"`
	Tags      []string         `json:"tags"`
	Session   amber.SessionID  `json:"session" doc:"only it sees the memory"`
	User      string           `json:"user"`
	Workspace string           `json:"workspace"`
}

// Saved is the answer to a write.
type Saved struct {
	ID           amber.MemoryID  `json:"id"`
	Revision     int64           `json:"revision"`
	Scope        amber.Scope     `json:"scope"`
	Project      string          `json:"project,omitempty"`
	Session      amber.SessionID `json:"session,omitempty"`
	Deduplicated bool            `json:"deduplicated"`
	Added        []string        `json:"added,omitempty"`
	NotTaken     []string        `json:"not_taken,omitempty"`
}

var memorySave = NewTool(Tool{
	Op: MemoryWrite.Row, Name: "memory_save", Title: "Save a memory", Hints: Again, Shows: "id revision scope deduplicated added not_taken",
	Use: "Store one fact worth knowing in later sessions, as soon as you learn it: a decision and why, a preference, a fix, a constraint. Saving a topic again revises its memory.",
}, func(ctx context.Context, c *Call, in memorySaveArgs) (Saved, string, error) {
	named := amber.Identities{SessionID: in.Session, UserID: in.User, ProjectID: in.Project, WorkspaceID: in.Workspace}
	return c.Save(ctx, amber.WriteRequest{
		Kind: in.Kind, Scope: cmp.Or(in.Scope, c.Host.ScopeOf(named)), Identities: c.Host.Known(named),
		Title: in.Title, Content: in.Content, Topic: in.Topic, Tags: in.Tags,
	})
})

// Save stores a memory, and says what became of it.
func (c *Call) Save(ctx context.Context, r amber.WriteRequest) (Saved, string, error) {
	ack, err := MemoryWrite.Call(ctx, c, WriteIn{Body: r})
	if err != nil {
		return Saved{}, "", err
	}
	text := fmt.Sprintf("Saved %s, revision %d.", ack.ID, ack.Revision)
	if ack.Deduplicated {
		text = fmt.Sprintf("The memory was stored already: %s.", ack.ID) + againText(ack)
	}
	rule, _ := c.Policy.Recall(amber.RecallInput{})
	if rule.Review.Waits(ack.Trust, ack.Scope, ack.Kind) {
		text += " It is not put before other agents until its owner keeps it (amber review)."
	}
	return Saved{ack.ID, ack.Revision, ack.Scope, ack.ProjectID, ack.SessionID, ack.Deduplicated, ack.Added, ack.NotTaken}, text, nil
}

// againText says what a write has added to a memory that was stored already, and what it has not.
func againText(ack amber.WriteAck) (text string) {
	if len(ack.Added) > 0 {
		text += " Added: " + strings.Join(ack.Added, ", ") + "."
	}
	if len(ack.NotTaken) > 0 {
		text += " Not taken, because the memory has others: " + strings.Join(ack.NotTaken, ", ") + "; memory_update changes them."
	}
	return text
}

type memoryRecallArgs struct {
	Query     string              `json:"query" need:"yes"`
	Limit     int                 `json:"limit" doc:"default 8, at most 64" range:"1 64" default:"8"`
	Scope     amber.Scope         `json:"scope"`
	Project   string              `json:"project" doc:"default: current"`
	Kind      amber.MemoryKind    `json:"kind"`
	Session   amber.SessionID     `json:"session" doc:"see its memories too"`
	User      string              `json:"user"`
	Workspace string              `json:"workspace"`
	Layers    []amber.RecallLayer `json:"layers"`
}

type recalled struct {
	Hits     []Brief          `json:"hits" shows:"id title snippet trust"`
	SetAside []amber.SetAside `json:"set_aside,omitempty"`
	Degraded string           `json:"degraded,omitempty"`
}

var memoryRecall = NewTool(Tool{
	Op: MemoryRecall.Row, Name: "memory_recall", Title: "Search memory", Shows: "hits",
	Use: "Search memories and past sessions in your own words before you ask or decide anew. Returns snippets; memory_get has the whole.",
}, func(ctx context.Context, c *Call, in memoryRecallArgs) (recalled, string, error) {
	ids := c.Host.Known(amber.Identities{SessionID: in.Session, UserID: in.User, ProjectID: in.Project, WorkspaceID: in.Workspace})
	q := amber.Query{Text: in.Query, Filter: amber.Filter{Scope: in.Scope, Identities: ids}, Limit: in.Limit, Layers: in.Layers}
	if in.Kind != "" {
		q.Kinds = []amber.MemoryKind{in.Kind}
	}
	found, err := c.Store.LongTerm.Recall(ctx, q)
	out := recalled{briefsOfFound(found.Hits), found.SetAside, shown.OneLine(found.Degraded, SnippetBytes)}
	return out, PrintBriefs(out.Hits, "Nothing is known about that.") + leftOut(found.SetAside), err
})

// leftOut says which rows an answer leaves out because they cannot be read.
func leftOut(rows []amber.SetAside) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "\n%s %s cannot be read and is left out: %s", r.Table, r.ID, r.Reason)
	}
	return b.String()
}

// IDArgs name a memory.
type IDArgs struct {
	ID string `json:"id" need:"yes"`
}

// ReadArgs name a memory and where in its text an answer begins.
type ReadArgs struct {
	ID     string `json:"id" need:"yes"`
	Offset int    `json:"offset"`
}

// MemoryPage is one memory with a page of its text.
type MemoryPage struct {
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

var memoryGet = NewTool(Tool{
	Op: MemoryGet.Row, Name: "memory_get", Title: "Read a memory", Use: "Read one memory by id. Long ones: again with offset = next_offset.",
	Shows: "id title content kind scope trust revision truncated next_offset",
}, ReadMemory)

// ReadMemory is the tool that reads a memory.
func ReadMemory(ctx context.Context, c *Call, in ReadArgs) (out MemoryPage, text string, err error) {
	m, err := MemoryGet.Call(ctx, c, MemoryID{in.ID})
	if err != nil {
		return out, "", err
	}
	if in.Offset < 0 || in.Offset > len(m.Content) {
		return out, "", BadArgs("offset is %d, the text has %s", in.Offset, words.Count(len(m.Content), "byte", "bytes"))
	}
	out = MemoryPage{
		m.ID, m.Title, m.Kind, m.Scope, m.ProjectID, m.SessionID, m.Topic, m.Tags, m.Trust, m.Revision, m.CreatedAt, m.UpdatedAt,
		shown.PageAt(m.Content, in.Offset, shown.PageBytes),
	}
	head := fmt.Sprintf("%s [%s, %s, revision %d, %s%s]", shown.OneLine(m.Title, 200), m.Kind, m.Scope, m.Revision, date(m.UpdatedAt), label(m.Trust))
	return out, strings.TrimSpace(head) + "\n" + out.Marked(fmt.Sprintf("call again with offset %d", out.Next)), nil
}

type memoryUpdateArgs struct {
	ID         string            `json:"id" need:"yes"`
	Content    *string           `json:"content"`
	Title      *string           `json:"title"`
	Kind       *amber.MemoryKind `json:"kind"`
	Tags       *[]string         `json:"tags"`
	IfRevision int64             `json:"if_revision" doc:"fail if it changed since"`
}

// Edited is the answer to a change of a memory.
type Edited struct {
	ID       amber.MemoryID `json:"id"`
	Revision int64          `json:"revision"`
}

var memoryUpdate = NewTool(Tool{
	Op: MemoryEdit.Row, Name: "memory_update", Title: "Correct a memory", Hints: Destroys | Again,
	Use: "Change a memory that is wrong or outdated; earlier texts stay. Give only what changes.",
}, func(ctx context.Context, c *Call, in memoryUpdateArgs) (Edited, string, error) {
	id, err := amber.ParseMemoryID(in.ID)
	switch {
	case err != nil:
		return Edited{}, "", err
	case in.IfRevision < 0:
		return Edited{}, "", BadArgs("if_revision is negative")
	case in.Content == nil && in.Title == nil && in.Kind == nil && in.Tags == nil:
		return Edited{}, "", BadArgs("nothing is to be changed")
	}
	return c.Edit(ctx, amber.EditRequest{ID: id, IfRevision: in.IfRevision, Content: in.Content, Title: in.Title, Kind: in.Kind, Tags: in.Tags})
})

// Edit changes a memory.
func (c *Call) Edit(ctx context.Context, r amber.EditRequest) (Edited, string, error) {
	c.Subject = string(r.ID)
	m, err := c.Store.Editor.Edit(ctx, r)
	return Edited{m.ID, m.Revision}, fmt.Sprintf("%s is at revision %d.", m.ID, m.Revision), err
}

type forgotten struct {
	Forgotten bool           `json:"forgotten"`
	ID        amber.MemoryID `json:"id"`
}

var memoryForget = NewTool(Tool{
	Op: MemoryForget.Row, Name: "memory_forget", Title: "Forget a memory", Hints: Destroys | Again, Shows: "id forgotten",
	Use: "Hide a memory from every search, when the user asks or it is plainly false.",
}, func(ctx context.Context, c *Call, in IDArgs) (forgotten, string, error) {
	id, err := amber.ParseMemoryID(in.ID)
	if err == nil {
		c.Subject = in.ID
		err = c.Store.LongTerm.Delete(ctx, id)
	}
	return forgotten{true, id}, fmt.Sprintf("%s is forgotten.", id), err
})

type memoryContextArgs struct {
	Goal      string `json:"goal"`
	Project   string `json:"project" doc:"default: current"`
	User      string `json:"user"`
	Workspace string `json:"workspace"`
	MaxBytes  int    `json:"max_bytes" doc:"512 to 65536, default 8192" range:"512 65536"`
}

// Context is what an agent should know, with the memories it is made of.
type Context struct {
	Text    string           `json:"text"`
	IDs     []amber.MemoryID `json:"ids"`
	Omitted int              `json:"omitted"`
	Blocked string           `json:"blocked,omitempty"`
	Cut     []amber.MemoryID `json:"cut,omitempty"` // memory_get has the whole text
}

var memoryContext = NewTool(Tool{
	Op: MemoryContext.Row, Name: "memory_context", Title: "Brief yourself",
	Use: "What earlier sessions know about a goal, and the last sessions. Call once when a task begins.",
}, func(ctx context.Context, c *Call, in memoryContextArgs) (Context, string, error) {
	return c.Context(ctx, in.Goal, amber.Identities{UserID: in.User, ProjectID: in.Project, WorkspaceID: in.Workspace}, in.MaxBytes)
})

// Context builds what an agent should know, as the policy has it.
func (c *Call) Context(ctx context.Context, goal string, named amber.Identities, size int) (Context, string, error) {
	ids, waits := c.Host.Known(named), c.Host.Waits()
	built, err := MemoryContext.Call(ctx, c, Payload[wire.ContextRequest]{wire.ContextRequest{
		RecallInput: amber.RecallInput{Goal: goal, Identities: ids}, MaxBytes: size,
	}})
	if err == nil && waits {
		built.Text, err = contextblock.WithNotice(built.Text, c.Random)
	}
	out := Context{built.Text, []amber.MemoryID{}, built.Omitted, built.Decision.BlockedReason, built.Cut}
	for _, h := range built.Memories {
		if h.ID != "" { // what was said has none
			out.IDs = append(out.IDs, h.ID)
		}
	}
	switch {
	case !built.Decision.Effective:
		return out, "Nothing is recalled: " + built.Decision.BlockedReason + ".", err
	case built.Text == "":
		return out, "Nothing is remembered yet.", err
	}
	return out, built.Text, err
}

type memoryTimelineArgs struct {
	ID     string `json:"id" need:"yes"`
	Before *int   `json:"before" doc:"default 3" range:"0 20" default:"3"`
	After  *int   `json:"after" doc:"default 3" range:"0 20" default:"3"`
}

// Around is the answer to what was saved around a memory.
type Around struct {
	Memories []Brief `json:"memories" shows:"id title snippet trust"`
}

var memoryTimeline = NewTool(Tool{
	Op: MemoryTimeline.Row, Name: "memory_timeline", Title: "Around a memory", Use: "Memories saved around one, oldest first.",
}, func(ctx context.Context, c *Call, in memoryTimelineArgs) (Around, string, error) {
	return c.Around(ctx, c.Host.Identities("", ""), in.ID, *in.Before, *in.After)
})

// Around lists what was saved around a memory and is visible to identities.
func (c *Call) Around(ctx context.Context, ids amber.Identities, named string, before, after int) (Around, string, error) {
	id, err := amber.ParseMemoryID(named)
	if err != nil {
		return Around{}, "", err
	}
	ms, err := c.Store.Memories.Timeline(ctx, id, before, after)
	ms = slices.DeleteFunc(ms, func(m amber.Memory) bool { return m.ID != id && !ids.Sees(m.Scope, m.Identities) })
	out := Around{BriefsOf(ms)}
	return out, PrintBriefs(out.Memories, ""), err
}
