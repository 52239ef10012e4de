package foreign

import (
	"context"

	"github.com/amber-memory/amber"
)

// Match says how well a tree fits a format.
type Match int

// The degrees; of several formats that fit the surest counts.
const (
	No       Match = iota
	Fallback       // any folder of text would do
	Partly         // some of the files are of the program, and another format may know more of them
	Sure
)

// SureIf is Sure of a tree that is of the format, and No otherwise.
func SureIf(ours bool) Match {
	if ours {
		return Sure
	}
	return No
}

// Format is one format of another program.
type Format struct {
	Name  string // "claude-code": of --from, in ids and links, so it never changes
	Title string // "Claude Code"
	// Detect looks at the names and the first bytes of files.
	Detect func(t *Tree) Match
	// Read tells to what t holds. It reports a file or row that cannot be read with [Sink.Skip], and goes on with the
	// rest. An error is about the whole: the sink has failed, or ctx has ended.
	Read func(ctx context.Context, t *Tree, o Options, to Sink) error
	// Next returns the command that imports t, of a format with an importer of its own: Read is nil then.
	Next func(t *Tree) string
	// Homes returns where the program keeps its files, for a lookup of environment variables and a home directory; nil for
	// a program that keeps none where Amber could look for them.
	Homes func(env func(string) string, home string) []string
	// Write writes contents for the program to read; nil where nothing reads them. Folder says that it makes a folder,
	// otherwise it makes one file.
	Write  func(ctx context.Context, c Contents, o WriteOptions, to Output) error
	Folder bool
}

// Options say how a tree is read.
type Options struct {
	// Project and User are named by the caller and win over what the files say; "" means that the files decide.
	Project, User string
	// ProjectOf names the project of a directory that a file mentions; "" where there is none. Never nil.
	ProjectOf func(dir string) string
	// Observations asks for the lines of Markdown that look like observations, also where a program makes none of
	// them.
	Observations bool
	// Sensitive asks for rows that their program marks as sensitive; they are skipped otherwise.
	Sensitive bool
}

// ProjectFor returns the project of what happened in a directory.
func (o Options) ProjectFor(dir string) string {
	if o.Project != "" {
		return o.Project
	}
	if dir == "" {
		return ""
	}
	return o.ProjectOf(dir)
}

// Sink takes what a format finds. An error of any method ends the reading. Values are not kept.
type Sink interface {
	// Memory takes a row that says something.
	Memory(m Memory) error
	// Relation takes a relation of two memories of this tree, in any order with them.
	Relation(r Relation) error
	// Session takes a conversation; its turns follow at once, before the next session. Want is false where all turns
	// are known: then they need not be read.
	Session(s Session) (want bool, err error)
	// Turn takes what was said or done in the last session.
	Turn(t Turn) error
	// Note takes a document.
	Note(n Note) error
	// Skip reports that something is not imported, and why.
	Skip(at Place, format string, args ...any)
	// Warn reports something about the whole that a person should know.
	Warn(format string, args ...any)
	// Record takes the versions of one memory of Amber as they were, under its own id, oldest first. The versions that a
	// file claims of a memory that is here go beside it, as a conflict.
	Record(at Place, versions []amber.SyncMemory) error
	// RelationRecord takes a relation of two memories by their ids.
	RelationRecord(at Place, r amber.Relation) error
}

// Place says where in a tree something lies.
type Place struct {
	File string // its name in the tree
	At   string // "line 12", "conversation 3", "observations, row 7"; "" for the whole file
}

// String returns the place as a person would name it.
func (p Place) String() string {
	if p.At == "" {
		return p.File
	}
	return p.File + ": " + p.At
}

// Key names a row in the program it comes from: what stays the same when the row is edited, moved to another machine or
// exported again. It has no path of this machine, no time of import and no number that a database counts up.
type Key []string

// Memory is a row that becomes a memory.
type Memory struct {
	Place Place
	Key   Key
	Kind  amber.MemoryKind // default workspace_fact
	Scope amber.Scope      // default user, project or session, the first that is named; else global
	amber.Identities
	Title, Content, Summary string
	Topic                   string // goes into the metadata: a topic decides an id, and a file must not
	Tags                    []string
	Metadata                map[string]string
	SourceRefs              []amber.SourceRef
	CreatedAt, UpdatedAt    amber.Time // default each other, else the time of the file
	DeletedAt               amber.Time // the program deleted it then
	// Foreign is what else the row says, as it was, and becomes the foreign field named after the format. Nil for nothing.
	Foreign any
	// Earlier is what the row said before, oldest first.
	Earlier []Earlier
	// AmberID is the id that an export of Amber wrote there. It only serves to recognise: where a memory of that id and
	// content is stored, there is nothing to import.
	AmberID string
}

// Earlier is an earlier text of a row.
type Earlier struct {
	Content string
	At      amber.Time
}

// Relation is a relation of two memories.
type Relation struct {
	Place     Place
	From, To  Key
	Type      string  // what an id may not hold becomes "_"
	Strength  float64 // default 1
	CreatedAt amber.Time
}

// Session is a conversation.
type Session struct {
	Place Place
	// ID is its id in Amber: of a coding agent the host's own, so that it meets what hooks recorded; otherwise the name
	// of the format, "-", and the program's id.
	ID        amber.SessionID
	Name      string // shortened where it is too long
	Binding   string // default the name of the format
	Project   string
	Directory string
	Summary   string
	Parent    amber.SessionID
	StartedAt amber.Time
	EndedAt   amber.Time
	// Turns is how many turns follow, and State whatever else tells that the conversation has changed: the id of its last
	// message, the size of its file.
	Turns int64
	State string
}

// Turn is what was said or done in a session.
type Turn struct {
	Place   Place
	Key     Key // of the message, unique in the format
	Role    amber.Role
	Content string // "" where there is only activity
	At      amber.Time
	// Activity is what the agent did beside it; session and times are filled in.
	Activity []amber.Activity
	// Compaction is a summary that took the place of the turns before.
	Compaction string
}

// Note is a document.
type Note struct {
	Place     Place
	Name      string // slash-separated; characters that names of notes lack become "-"
	Content   string
	UpdatedAt amber.Time
}
