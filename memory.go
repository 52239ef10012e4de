package amber

import (
	"context"
	"encoding/json"
	"errors"
)

// MemoryKind says what a memory is about.
type MemoryKind string

// The kinds of memory. A common name such as "decision" means one of them, see [MemoryKind.Canonical]; an
// unknown kind is invalid, never mapped to another.
const (
	UserPreference  MemoryKind = "user_preference"
	UserFact        MemoryKind = "user_fact"
	ProjectFact     MemoryKind = "project_fact"
	WorkspaceFact   MemoryKind = "workspace_fact" // the default
	HistoricalCase  MemoryKind = "historical_case"
	Constraint      MemoryKind = "constraint"
	WorkflowInsight MemoryKind = "workflow_insight"
	SessionSummary  MemoryKind = "session_summary"
)

// MemoryKinds lists every kind in the order above.
func MemoryKinds() []MemoryKind {
	return []MemoryKind{
		UserPreference, UserFact, ProjectFact, WorkspaceFact,
		HistoricalCase, Constraint, WorkflowInsight, SessionSummary,
	}
}

// Scope says where a memory is visible. Every scope but global has an
// identity; a memory is visible only where that identity is present on both
// sides and equal.
type Scope string

// The scopes. An unknown scope is invalid, never widened to global.
const (
	ScopeSession   Scope = "session"
	ScopeUser      Scope = "user"
	ScopeProject   Scope = "project"
	ScopeWorkspace Scope = "workspace"
	ScopeGlobal    Scope = "global"
)

// Scopes lists every scope in the order above.
func Scopes() []Scope {
	return []Scope{ScopeSession, ScopeUser, ScopeProject, ScopeWorkspace, ScopeGlobal}
}

// Identities are the names a scope can be bound to. Fields that are not known
// stay empty and match nothing.
type Identities struct {
	SessionID   SessionID `json:"session_id,omitempty" redact:"id,session id"`
	UserID      string    `json:"user_id,omitempty" redact:"id,user id"`
	ProjectID   string    `json:"project_id,omitempty" redact:"id,project id"`
	WorkspaceID string    `json:"workspace_id,omitempty" redact:"id,workspace id"`
}

// For returns the identity that binds scope s: the empty string for global,
// for an unknown scope, and where it is not known.
func (i Identities) For(s Scope) string {
	switch s {
	case ScopeSession:
		return string(i.SessionID)
	case ScopeUser:
		return i.UserID
	case ScopeProject:
		return i.ProjectID
	case ScopeWorkspace:
		return i.WorkspaceID
	}
	return ""
}

// Narrowest returns the most specific scope whose identity is known, in the
// order of [Scopes]: the session before the user, the project and the
// workspace. It is global only where no identity is known.
func (i Identities) Narrowest() Scope {
	for _, s := range Scopes() {
		if i.For(s) != "" {
			return s
		}
	}
	return ScopeGlobal
}

// Sees reports whether a record of the given scope and identities is visible
// to a reader with identities i.
func (i Identities) Sees(s Scope, record Identities) bool {
	if s == ScopeGlobal {
		return true
	}
	id := i.For(s)
	return id != "" && id == record.For(s)
}

// SourceRef points to where a memory came from: a request, a file, a URL.
type SourceRef struct {
	Kind  string `json:"kind" redact:"text"`
	Value string `json:"value" redact:"text"`
}

// Origin orders the revisions of one record across devices: by counter, then
// clock, then device.
type Origin struct {
	Device  string `json:"device" redact:"id,device"`
	Counter uint64 `json:"counter"` // highest seen for this record plus one
	Clock   Stamp  `json:"clock"`
}

// After reports whether a revision stamped o wins over one stamped p.
func (o Origin) After(p Origin) bool {
	if o.Counter != p.Counter {
		return o.Counter > p.Counter
	}
	if o.Clock != p.Clock {
		return o.Clock > p.Clock
	}
	return o.Device > p.Device
}

// Memory is one long-term memory.
type Memory struct {
	ID    MemoryID   `json:"id" redact:"-"`
	Kind  MemoryKind `json:"kind" redact:"-"`
	Scope Scope      `json:"scope" redact:"-"`
	Identities
	Title          string                     `json:"title" redact:"text"`
	Content        string                     `json:"content" redact:"text"`
	Summary        string                     `json:"summary" redact:"text"`
	Topic          string                     `json:"topic,omitempty" redact:"id,topic"`
	Tags           []string                   `json:"tags" redact:"text"`
	Metadata       map[string]string          `json:"metadata" redact:"text"`
	SourceRefs     []SourceRef                `json:"source_refs"`
	Trust          Trust                      `json:"trust" redact:"-"`
	Author         Author                     `json:"author,omitzero"` // who wrote this revision
	Origin         Origin                     `json:"origin"`
	Revision       int64                      `json:"revision"`
	ContentDigest  string                     `json:"content_digest" redact:"-"` // hex SHA-256 of Content
	DuplicateCount int64                      `json:"duplicate_count"`
	CreatedAt      Time                       `json:"created_at"`
	UpdatedAt      Time                       `json:"updated_at"`
	DeletedAt      Time                       `json:"deleted_at,omitzero"`
	Foreign        map[string]json.RawMessage `json:"foreign,omitempty" redact:"raw"` // fields of another tool, kept losslessly
}

// Identity returns the identity m's scope is bound to, "" for global.
func (m *Memory) Identity() string { return m.For(m.Scope) }

// SameKey reports whether two memories are duplicates of each other: same
// content, kind, scope, identity and title.
func SameKey(a, b Memory) bool {
	return a.ContentDigest == b.ContentDigest && a.Kind == b.Kind && a.Scope == b.Scope &&
		a.Identity() == b.Identity() && a.Title == b.Title
}

// WriteReason says why a memory is written.
type WriteReason string

// The reasons for a write.
const (
	WriteOperator       WriteReason = "operator_requested" // the default
	WriteTaskSucceeded  WriteReason = "task_succeeded"
	WriteObservation    WriteReason = "high_value_observation"
	WriteCompactSummary WriteReason = "compact_summary"
)

// WriteRequest asks for one memory to be stored.
type WriteRequest struct {
	Kind  MemoryKind `json:"kind,omitempty" redact:"-"`  // default workspace_fact
	Scope Scope      `json:"scope,omitempty" redact:"-"` // default the narrowest of Identities, global without any; all but global need their identity
	Identities
	Title          string            `json:"title,omitempty" redact:"text"`
	Content        string            `json:"content" redact:"text"`
	Summary        string            `json:"summary,omitempty" redact:"text"`
	Topic          string            `json:"topic,omitempty" redact:"text"` // one live memory per project, scope, identity and topic
	Tags           []string          `json:"tags,omitempty" redact:"text"`
	Metadata       map[string]string `json:"metadata,omitempty" redact:"text"`
	SourceRefs     []SourceRef       `json:"source_refs,omitempty"`
	Reason         WriteReason       `json:"reason,omitempty" redact:"-"` // default operator_requested
	Trust          Trust             `json:"trust,omitempty" redact:"-"`  // default own
	Author         Author            `json:"author,omitzero"`
	IdempotencyKey string            `json:"idempotency_key,omitempty" redact:"id,idempotency key"`
	// Recorded makes an earlier memory of it, with its dates and, by an id, with
	// everything that a listing shows. The zero value is a new memory.
	Recorded
}

// AsMemory returns the memory that a normalised request describes, without id, origin, numbers and dates. It shares
// lists and maps with the request. Backends call it.
func (r WriteRequest) AsMemory() Memory {
	m := Memory{
		Kind: r.Kind, Scope: r.Scope, Identities: r.Identities, Title: r.Title, Content: r.Content, Summary: r.Summary, Topic: r.Topic,
		Tags: r.Tags, Metadata: r.Metadata, SourceRefs: r.SourceRefs, Trust: r.Trust, Author: r.Author, ContentDigest: ContentDigest(r.Content),
	}
	if m.Metadata == nil {
		m.Metadata = map[string]string{}
	}
	if m.SourceRefs == nil {
		m.SourceRefs = []SourceRef{}
	}
	return m
}

// AsRequest returns a request that stores what m says as a new memory: all that is said, and the trust. The author is
// the one who asks.
func (m Memory) AsRequest() WriteRequest {
	return WriteRequest{
		Kind: m.Kind, Scope: m.Scope, Identities: m.Identities, Title: m.Title, Content: m.Content, Summary: m.Summary, Topic: m.Topic,
		Tags: m.Tags, Metadata: m.Metadata, SourceRefs: m.SourceRefs, Trust: m.Trust,
	}
}

// WriteAck is the answer to a write: the memory as it is stored now.
type WriteAck struct {
	Memory
	// Deduplicated is set when an equal memory was there already: same
	// content, kind, scope, identity and title. No second one was stored.
	Deduplicated bool `json:"deduplicated"`
	// Added names the fields that such a memory was given by this write, as a
	// new revision, and NotTaken those of the write that it was not given: see
	// [WriteRequest.Merge].
	Added    []string `json:"added,omitempty"`
	NotTaken []string `json:"not_taken,omitempty"`
	// Redacted counts the secrets that a door took out of the request before it
	// was stored, by rule; nil when there were none. Stores leave it alone.
	Redacted map[string]int `json:"redacted,omitempty"`
}

// EditRequest changes fields of one memory. Nil fields stay as they are. The new
// revision has the trust of the caller where Keep is set, or where the owner
// changes the text of an agent; otherwise the memory keeps its trust.
type EditRequest struct {
	ID         MemoryID           `json:"id" redact:"-"`
	IfRevision int64              `json:"if_revision,omitempty"` // 0: whatever it is
	Kind       *MemoryKind        `json:"kind,omitempty" redact:"-"`
	Title      *string            `json:"title,omitempty" redact:"text"`
	Content    *string            `json:"content,omitempty" redact:"text"`
	Summary    *string            `json:"summary,omitempty" redact:"text"`
	Tags       *[]string          `json:"tags,omitempty" redact:"text"`
	Metadata   *map[string]string `json:"metadata,omitempty" redact:"text"`
	Keep       bool               `json:"keep,omitempty"`             // the caller vouches for the memory
	Trust      Trust              `json:"trust,omitempty" redact:"-"` // of the caller; default own
	Author     Author             `json:"author,omitzero"`
}

// AsEdit returns an edit that makes the memory of this id say what m says, in every field that an edit changes.
func (m Memory) AsEdit(ifRevision int64) EditRequest {
	return EditRequest{
		ID: m.ID, IfRevision: ifRevision, Kind: &m.Kind, Title: &m.Title, Content: &m.Content, Summary: &m.Summary,
		Tags: &m.Tags, Metadata: &m.Metadata,
	}
}

// Health is a backend's word about itself.
type Health struct {
	Backend string       `json:"backend"`
	Status  HealthStatus `json:"status"`
	Detail  string       `json:"detail,omitempty"`
}

// HealthStatus is one of healthy, degraded and unavailable.
type HealthStatus string

// The health states.
const (
	Healthy     HealthStatus = "healthy"
	Degraded    HealthStatus = "degraded"
	Unavailable HealthStatus = "unavailable"
)

// ErrKeyErased is in the chain of the conflict that a write gets if its
// idempotency key stored a memory that was erased since.
var ErrKeyErased = errors.New("the memory that was stored with this idempotency key was erased")

// LongTerm is the contract every long-term memory backend satisfies. All
// methods are safe for concurrent use. Values passed in are not kept, values
// returned belong to the caller.
type LongTerm interface {
	// Recall returns the best matches of q, best first. No match is an empty
	// result. Errors: invalid.
	Recall(ctx context.Context, q Query) (RecallResult, error)
	// Write stores one memory durably before it returns; see [WriteAck] for
	// duplicates. A topic that exists becomes a new revision of its memory, unless
	// that is trusted more than the request: this is refused. A used idempotency key returns the first answer; with other bytes it is a
	// conflict, and so it is once that memory was erased: see [ErrKeyErased].
	// A request with an id is stored as it is: see [Recorded]. If a memory of that
	// id is stored and says the same, nothing is written at all; if it says
	// something else, or was erased, that is a conflict. The clock of the store
	// follows the origin, at most [MaxClockLead] past the time of day.
	// Errors: invalid, conflict, refused, busy, quota.
	Write(ctx context.Context, r WriteRequest) (WriteAck, error)
	// Delete leaves a tombstone: the memory is hidden from every read but
	// history. Deleting a deleted memory does nothing. Errors: not_found.
	Delete(ctx context.Context, id MemoryID) error
	// Health looks at the backend and reports. It fails only when ctx ends.
	Health(ctx context.Context) (Health, error)
}

// MemoryReader reads memories without searching. Safe for concurrent use.
type MemoryReader interface {
	// Get returns one live memory. Errors: not_found.
	Get(ctx context.Context, id MemoryID) (Memory, error)
	// List returns memories, newest first, a page at a time. Errors: invalid.
	List(ctx context.Context, q ListQuery) (Page[Memory], error)
	// History returns a page of the revisions of a memory, oldest first, the
	// tombstone last if it is deleted. Errors: not_found, invalid.
	History(ctx context.Context, id MemoryID, p Paging) (Page[Memory], error)
	// Timeline returns up to before memories older and up to after memories
	// newer than id, with id between them, oldest first: of the same session
	// those that the identities of id see, or those of the same scope and
	// identity where id has no session. Each side ends, as a page does, where its
	// text reaches [MaxPageBytes]. Errors: not_found, invalid.
	Timeline(ctx context.Context, id MemoryID, before, after int) ([]Memory, error)
}

// BatchWriter writes several memories, all or nothing.
type BatchWriter interface {
	// WriteBatch stores all requests in one transaction, at most
	// [MaxBatchSize] of them, and answers in their order. On error nothing
	// was stored. Errors: those of Write.
	WriteBatch(ctx context.Context, rs []WriteRequest) ([]WriteAck, error)
}

// Editor changes memories in place, keeping every earlier revision.
type Editor interface {
	// Edit applies r and returns the new revision; an edit that changes
	// nothing returns the memory as it is, unless sync has brought a rival
	// version: then it settles that conflict. Errors: not_found, invalid;
	// refused when the memory, or a rival version, is trusted more than the
	// caller; conflict when IfRevision does not match or when the edit would make it
	// a duplicate of another live memory.
	Edit(ctx context.Context, r EditRequest) (Memory, error)
}

// EraseReport says what erasing removed and what it could not reach.
type EraseReport struct {
	ID        MemoryID `json:"id"`
	Removed   []string `json:"removed"`   // what was removed, "3 revisions"
	Remaining []string `json:"remaining"` // copies that remain, by place
}

// Eraser removes the text of a memory for good.
type Eraser interface {
	// Erase removes every trace of the memory's text from the store's files:
	// revisions, indexes, digests, embeddings, concepts, idempotency answers.
	// The keys of these answers stay used until they expire.
	// A tombstone without text stays, and no import brings the memory back.
	// Erasing an erased memory does nothing. Errors: not_found.
	Erase(ctx context.Context, id MemoryID) (EraseReport, error)
}

// ListQuery filters and pages a listing. The zero value lists every live
// memory, [DefaultPageSize] at a time.
type ListQuery struct {
	Filter
	All     bool   `json:"all,omitempty"`     // every scope and identity, not only those Identities sees
	Deleted bool   `json:"deleted,omitempty"` // tombstones too
	Trust   Trust  `json:"trust,omitempty"`   // of this trust or more; "": any
	Waiting Review `json:"waiting,omitempty"` // those that wait for the owner by this rule; "": all
	Limit   int    `json:"limit,omitempty"`   // 0: DefaultPageSize; at most MaxPageSize
	Cursor  Cursor `json:"cursor,omitempty"`  // Next of the page before
}

// Filter narrows recall and listings. The zero value sees global memories.
type Filter struct {
	// Scope limits to one scope; empty means every scope whose identity is
	// known in Identities, plus global.
	Scope Scope `json:"scope,omitempty"`
	Identities
	Kinds []MemoryKind `json:"kinds,omitempty"` // empty: any
	Tags  []string     `json:"tags,omitempty"`  // every one of them must be present
	Since Time         `json:"since,omitzero"`  // updated at or after
	Until Time         `json:"until,omitzero"`  // updated before
}

// Page is one page of a listing: as many items as were asked for, or fewer where
// their text reaches [MaxPageBytes] before, but at least one. Next alone says whether
// there are more. Items is never nil.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  Cursor `json:"next,omitempty"` // "" on the last page
	// SetAside are rows that belong here and cannot be read, at most MaxSetAside.
	SetAside []SetAside `json:"set_aside,omitempty"`
}

// Len is how many items the page has.
func (p Page[T]) Len() int { return len(p.Items) }

// SetAside names a stored row that cannot be read. Answers leave it out and go
// on; asked for by its id it is an error of kind damaged.
type SetAside struct {
	Table  string `json:"table"`
	ID     string `json:"id"` // of the row; "?" where that is no id either
	Reason string `json:"reason"`
}

// MaxSetAside is how many rows one answer names.
const MaxSetAside = 20

// Cursor marks a place in a listing. It is opaque; a cursor of another
// listing is invalid.
type Cursor string
