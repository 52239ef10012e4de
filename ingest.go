package amber

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"
)

// NotStored is the error of a past ingestion whose session is not stored. Backends
// return it.
func (in Ingestion) NotStored() error {
	return Errorf(KindConflict, "ingest", in.Journal, "session %s is not stored: apply its record first", in.Session)
}

// SameEventWindow is how far apart two events without native ids and with
// equal content may be observed to be the same event.
const SameEventWindow = 2 * time.Second

// Ingestion is what a stretch of one session of the crash journal means: the
// entries with sequences above After up to Through.
type Ingestion struct {
	Journal string    `json:"journal" redact:"-"` // names the cursor: 32 hex digits, one for each folder a session of the journal ever had
	Host    string    `json:"host" redact:"id,host"`
	Session SessionID `json:"session_id" redact:"id,session id"`
	After   int64     `json:"after,omitempty"` // what the cursor is; 0: there is none yet
	Through int64     `json:"through"`         // what it becomes, at least After
	// LastAt is when the host was last heard of, and Process its process; zero
	// values leave what is stored.
	LastAt  Time         `json:"last_at,omitzero"`
	Process HostProcess  `json:"process,omitzero" redact:"-"`
	Steps   []IngestStep `json:"steps,omitempty"`
	// Past reports that all of it happened long ago and was read from a record of it,
	// such as an imported transcript, and not told by a live host. The session is
	// then stored already, and stays as it is: no step starts, updates, reopens or
	// ends it, it does not become active, and nothing is logged of it. Once it has
	// ended, its cursor is not among the open journals. A session that has not
	// ended is one of theirs, and a drain ends it when it was silent for long.
	Past bool `json:"past,omitempty"`
}

// IngestStep is what one event means. The zero Event is always new.
type IngestStep struct {
	Event EventRef `json:"event,omitzero" redact:"-"`
	At    Time     `json:"at,omitzero"` // when it happened; default now
	// Start makes the session where there is none. A session that has ended starts again only with Reopen.
	// Empty project and directory of a stored session are filled in.
	Start    SessionStart   `json:"start"`
	Reopen   bool           `json:"reopen,omitempty"`
	Turns    []Turn         `json:"turns,omitempty"`
	Activity []Activity     `json:"activity,omitempty"`
	Memories []WriteRequest `json:"memories,omitempty"`
	// Links relate memories of the step to stored ones.
	Links      []IngestLink `json:"links,omitempty"`
	Compaction *Compaction  `json:"compaction,omitempty"`
	End        *SessionEnd  `json:"end,omitempty"`
}

// IngestLink relates a memory of a step to a stored one, as [Relations] does. It is
// left out if the stored memory is gone or is the same, or if the memory of the step
// was not stored.
type IngestLink struct {
	Memory   int      `json:"memory"` // index into the memories of the step
	To       MemoryID `json:"to" redact:"-"`
	Type     string   `json:"type" redact:"id,relation type"`
	Strength float64  `json:"strength"` // 0 to 1
}

// EventRef identifies an event; see package journal.
type EventRef struct {
	ID     string `json:"id"`
	Native bool   `json:"native,omitempty"`
	At     Time   `json:"at,omitzero"` // when it was observed; default when it happened
}

// HostProcess identifies the process of an agent host beyond its number, which
// other processes get later and which means nothing elsewhere.
type HostProcess struct {
	PID       int    `json:"pid,omitempty"`
	Start     int64  `json:"start,omitempty"`     // when it started, in units of the system
	Boot      string `json:"boot,omitempty"`      // of the running system
	Namespace string `json:"namespace,omitempty"` // in which the number counts
}

// IngestResult is the answer to an ingestion.
type IngestResult struct {
	Applied    int `json:"applied"`    // steps
	Duplicates int `json:"duplicates"` // steps whose event was known
	Memories   int `json:"memories"`   // that were new, and new revisions of topics
}

// JournalCursor is how far a session of the crash journal has been drained.
type JournalCursor struct {
	Journal string      `json:"journal"`
	Host    string      `json:"host"`
	Session SessionID   `json:"session_id"`
	Seq     int64       `json:"seq"`
	LastAt  Time        `json:"last_at"` // when the host was last heard of
	Ended   bool        `json:"ended"`   // the session has ended, or is gone
	Process HostProcess `json:"process,omitzero"`
}

// Ingester takes over what the crash journal holds, exactly once. Safe for
// concurrent use.
type Ingester interface {
	// Ingest applies the steps whose events are new and moves the cursor, in
	// one transaction. The detail of an activity of kind context, a digest, is left
	// out where the text of that memory or turn was erased meanwhile. Errors: conflict
	// when the cursor is not After, when a step contradicts what is stored, or when the
	// session of a past one is not stored; invalid when a step breaks a rule. On an
	// error nothing was applied.
	Ingest(ctx context.Context, in Ingestion) (IngestResult, error)
	// JournalCursor returns the cursor of a session of the journal; one that
	// was never drained has a zero cursor under its name.
	JournalCursor(ctx context.Context, journal string) (JournalCursor, error)
	// OpenJournals returns the cursors of sessions that have not ended, those
	// heard of longest ago first, at most [MaxPageSize].
	OpenJournals(ctx context.Context) ([]JournalCursor, error)
}

// ActivityKind says what an agent did.
type ActivityKind string

// The kinds of activity.
const (
	ActivityTool       ActivityKind = "tool"
	ActivityFile       ActivityKind = "file"
	ActivityCommand    ActivityKind = "command"
	ActivityTask       ActivityKind = "task"
	ActivityError      ActivityKind = "error"
	ActivitySubagent   ActivityKind = "subagent"
	ActivityCompaction ActivityKind = "compaction"
	ActivityGap        ActivityKind = "gap"     // entries the journal had no room for
	ActivityContext    ActivityKind = "context" // a passage that was put before the agent: its layer and owner, and a digest of it
	ActivityOther      ActivityKind = "other"   // events that no rule knows
)

// Activity is something an agent did in a session, beside what was said: a
// tool, a file, a command. The same thing done again counts up.
type Activity struct {
	SessionID SessionID    `json:"session_id" redact:"-"`
	Kind      ActivityKind `json:"kind" redact:"-"`
	Name      string       `json:"name" redact:"text"`             // the tool, the path, the command line
	Detail    string       `json:"detail,omitempty" redact:"text"` // of the last time
	Status    string       `json:"status,omitempty" redact:"text"` // of the last time: modified, completed, failed
	Count     int64        `json:"count"`
	Failed    int64        `json:"failed"`
	FirstAt   Time         `json:"first_at"`
	LastAt    Time         `json:"last_at"`
}

// Bounds of activity.
const (
	// MaxActivity bounds the different things of one kind that are kept of a
	// session. When there are more, those done longest ago go.
	MaxActivity            = 500
	MaxActivityNameBytes   = 1000
	MaxActivityDetailBytes = 4 << 10
)

// Activities reads what agents did. Safe for concurrent use.
type Activities interface {
	// ListActivity returns what was done in a session, in the order it was
	// first done, of every kind or only of one. An unknown session has none.
	// Errors: invalid.
	ListActivity(ctx context.Context, id SessionID, kind ActivityKind) ([]Activity, error)
	// ActivityNamed returns what was done under one name in every session, done
	// last first, at most [MaxPageSize]. Errors: invalid.
	ActivityNamed(ctx context.Context, kind ActivityKind, name string) ([]Activity, error)
}

// ShownName is the name of the activity that a passage was put before an agent.
func ShownName(layer RecallLayer, owner string) string { return string(layer) + " " + owner }

// Shown returns the passage that an activity of kind context is about, by the layer and
// the id or name of its owner; "" for another activity.
func (a Activity) Shown() (layer RecallLayer, owner string) {
	if a.Kind != ActivityContext {
		return "", ""
	}
	name, owner, _ := strings.Cut(a.Name, " ")
	return RecallLayer(name), owner
}

// Normalize fills defaults and checks the ingestion. Backends call it first.
// The error is of kind invalid.
func (in Ingestion) Normalize() (Ingestion, error) {
	if err := cmp.Or(
		checkHex("journal", in.Journal), CheckID("host", in.Host), CheckID("session id", string(in.Session)),
		CheckText("boot id", in.Process.Boot, MaxIDBytes, OneLine), CheckText("namespace", in.Process.Namespace, MaxIDBytes, OneLine),
	); err != nil {
		return in, err
	}
	if in.After < 0 || in.Through < in.After {
		return in, Errorf(KindInvalid, "check ingestion", in.Journal, "range ends at entry %d, want %d or later", in.Through, in.After)
	}
	in.Steps = slices.Clone(in.Steps)
	for i := range in.Steps {
		var err error
		if in.Steps[i], err = in.Steps[i].normalize(in.Session); err != nil {
			return in, err
		}
		if in.Past && in.Steps[i].End != nil {
			return in, Errorf(KindInvalid, "check ingestion", in.Journal, "step %d ends session %s, want no end in a past ingestion", i+1, in.Session)
		}
	}
	return in, nil
}

func (s IngestStep) normalize(id SessionID) (IngestStep, error) {
	var err error
	if s.Event != (EventRef{}) {
		err = checkHex("event id", s.Event.ID)
	}
	if s.Start.ID != id && err == nil {
		err = Errorf(KindInvalid, "check step", string(s.Start.ID), "step is about another session than its ingestion")
	}
	if err == nil {
		s.Start, err = s.Start.Normalize()
	}
	s.Turns, err = normalizeEach(s.Turns, err, Turn.Normalize, func(t Turn) SessionID { return t.SessionID }, id)
	s.Activity, err = normalizeEach(s.Activity, err, Activity.Normalize, func(a Activity) SessionID { return a.SessionID }, id)
	s.Memories, err = normalizeEach(s.Memories, err, WriteRequest.Normalize, func(WriteRequest) SessionID { return id }, id)
	s.Links, err = normalizeLinks(s.Links, err, len(s.Memories))
	s.Compaction, err = normalizeOne(s.Compaction, err, Compaction.Normalize, func(c Compaction) SessionID { return c.SessionID }, id)
	s.End, err = normalizeOne(s.End, err, SessionEnd.Normalize, func(e SessionEnd) SessionID { return e.ID }, id)
	return s, err
}

// normalizeLinks checks the links of a step with so many memories, unless there is
// an error already.
func normalizeLinks(links []IngestLink, err error, memories int) ([]IngestLink, error) {
	links = slices.Clone(links)
	for _, l := range links {
		if err != nil {
			break
		}
		if l.Memory < 0 || l.Memory >= memories {
			return links, Errorf(KindInvalid, "check link", "", "link names memory %d of a step with %d memories", l.Memory, memories)
		}
		_, err = Relation{To: l.To, From: someMemory, Type: l.Type, Strength: l.Strength}.Normalize()
	}
	return links, err
}

// someMemory is the id of a memory that has none yet, so that its links can be checked.
const someMemory MemoryID = "00000000-0000-7000-8000-000000000000"

// normalizeOne is normalizeEach for a part there is one of, or none.
func normalizeOne[T any](v *T, err error, normalize func(T) (T, error), session func(T) SessionID, id SessionID) (*T, error) {
	if v == nil || err != nil {
		return v, err
	}
	list, err := normalizeEach([]T{*v}, nil, normalize, session, id)
	return &list[0], err
}

// normalizeEach normalizes the parts of a step, which must be about one
// session, unless there is an error already.
func normalizeEach[T any](list []T, err error, normalize func(T) (T, error), session func(T) SessionID, id SessionID) ([]T, error) {
	if err != nil {
		return list, err
	}
	list = slices.Clone(list)
	for i, v := range list {
		if session(v) != id {
			return list, Errorf(KindInvalid, "check step", string(id), "a turn, activity or memory of the step is about another session")
		}
		if list[i], err = normalize(v); err != nil {
			return list, err
		}
	}
	return list, nil
}

// Normalize fills defaults and checks the activity. The error is of kind
// invalid.
func (a Activity) Normalize() (Activity, error) {
	if a.Count < 0 || a.Failed < 0 {
		return a, Errorf(KindInvalid, "check activity", "", "count is negative")
	}
	a.Count = max(a.Count, 1)
	return a, cmp.Or(
		CheckID("session id", string(a.SessionID)),
		CheckActivityKind(a.Kind),
		CheckText("activity name", a.Name, MaxActivityNameBytes, Required|Lenient),
		CheckText("activity detail", a.Detail, MaxActivityDetailBytes, Lenient),
		CheckText("activity status", a.Status, MaxIDBytes, OneLine),
	)
}

// CheckActivityKind checks that k is a kind of activity. The error is of kind
// invalid.
func CheckActivityKind(k ActivityKind) error {
	return CheckOneOf("activity kind", k, ActivityTool, ActivityFile, ActivityCommand, ActivityTask,
		ActivityError, ActivitySubagent, ActivityCompaction, ActivityGap, ActivityContext, ActivityOther)
}

// Again returns a after the same thing was done again. Backends call it.
// Counts stop at the largest number there is.
func (a Activity) Again(next Activity) Activity {
	a.Count += min(next.Count, math.MaxInt64-a.Count)
	a.Failed += min(next.Failed, math.MaxInt64-a.Failed)
	a.Detail = orDefault(next.Detail, a.Detail)
	a.Status = orDefault(next.Status, a.Status)
	if next.LastAt.UnixMilli() > a.LastAt.UnixMilli() {
		a.LastAt = next.LastAt
	}
	return a
}

// checkHex checks an identifier of 32 lower-case hex digits.
func checkHex(what, s string) error {
	if len(s) != 32 || strings.Trim(s, "0123456789abcdef") != "" {
		return Errorf(KindInvalid, "check "+what, "", "%s is not valid: want 32 lower-case hexadecimal digits", what)
	}
	return nil
}
