package amber

import "errors"

// Parts are the contracts a store is put together from. A nil part is one
// this store cannot do.
type Parts struct {
	// Long-term memory.
	LongTerm    LongTerm
	Memories    MemoryReader
	Batch       BatchWriter
	Editor      Editor
	Eraser      Eraser
	Relations   Relations
	Concepts    Concepts
	Compactions Compactions
	Stats       StatsReader
	Changes     ChangeLog
	Semantic    bool // recall finds by meaning, too, not by words alone

	// Sessions and what belongs to them.
	Turns    Turns
	Loops    Loops
	Sessions Sessions
	Names    SessionEditor
	Active   ActiveSessions
	States   SessionStates

	// Ingest takes the entries that are drained from the crash journal. It reaches over the layers of turns,
	// sessions and long-term memory, so one backend serves them.
	Ingest     Ingester
	Activities Activities

	// Sync reaches over the same layers.
	Sync Replica

	// Notes.
	Notes   Notes
	NoteLog NoteLog

	// Control plane.
	Tasks          Tasks
	Events         TaskEvents
	Approvals      Approvals
	Results        Results
	Queue          Queue
	QueueKeeper    QueueKeeper
	ControlChanges ChangeLog

	// Runtime state of programs. It belongs to the layer of the control plane:
	// a program whose cursor is not found would begin again.
	Documents Documents
}

// Layer names a group of parts that one backend serves.
type Layer string

// The layers a configuration may assign to backends.
const (
	LayerLongTerm Layer = "long_term"
	LayerTurns    Layer = "turns"
	LayerLoops    Layer = "loops"
	LayerSessions Layer = "sessions"
	LayerNotes    Layer = "notes"
	LayerControl  Layer = "control"
)

// The parts that reach over several layers, and that no configuration assigns.
const (
	LayerJournal Layer = "journal" // Ingest
	LayerSync    Layer = "sync"    // Sync
)

// Layers lists every layer in the order above.
func Layers() []Layer {
	return []Layer{LayerLongTerm, LayerTurns, LayerLoops, LayerSessions, LayerNotes, LayerControl}
}

// Take copies the parts of one layer from another set.
func (p *Parts) Take(l Layer, from Parts) {
	switch l {
	case LayerLongTerm:
		p.LongTerm, p.Memories, p.Batch, p.Editor, p.Eraser = from.LongTerm, from.Memories, from.Batch, from.Editor, from.Eraser
		p.Relations, p.Concepts = from.Relations, from.Concepts
		p.Stats, p.Changes, p.Sync, p.Semantic = from.Stats, from.Changes, from.Sync, from.Semantic
	case LayerTurns:
		p.Turns, p.Compactions = from.Turns, from.Compactions
	case LayerLoops:
		p.Loops = from.Loops
	case LayerSessions:
		p.Sessions, p.Names, p.Active, p.States = from.Sessions, from.Names, from.Active, from.States
		p.Ingest, p.Activities = from.Ingest, from.Activities
	case LayerNotes:
		p.Notes, p.NoteLog = from.Notes, from.NoteLog
	case LayerControl:
		p.Tasks, p.Events, p.Approvals, p.Results = from.Tasks, from.Events, from.Approvals, from.Results
		p.Queue, p.QueueKeeper, p.ControlChanges = from.Queue, from.QueueKeeper, from.ControlChanges
		p.Documents = from.Documents
	}
}

// Store is every contract in one value. None of its fields is nil: a part
// the backend cannot do answers every call with kind unsupported. Copy it
// freely; the caller that opened the backend closes it.
type Store struct {
	Parts
	caps Capabilities
}

// Capabilities tells which optional contracts a store really has.
type Capabilities struct {
	Memories    bool `json:"memories"`
	Batch       bool `json:"batch"`
	Edit        bool `json:"edit"`
	Erase       bool `json:"erase"`
	Relations   bool `json:"relations"`
	Concepts    bool `json:"concepts"`
	Compactions bool `json:"compactions"`
	Stats       bool `json:"stats"`
	Changes     bool `json:"changes"`
	Turns       bool `json:"turns"`
	Loops       bool `json:"loops"`
	Sessions    bool `json:"sessions"`
	States      bool `json:"session_state"`
	Notes       bool `json:"notes"`
	Control     bool `json:"control"`
	Documents   bool `json:"documents"`
	Ingest      bool `json:"ingest"`
	Sync        bool `json:"sync"`
	Semantic    bool `json:"semantic"`
}

// NewStore puts a store together. Nil parts are filled in with ones that
// answer unsupported.
func NewStore(p Parts) Store {
	return Store{Parts: p.fill(absent{err: errors.New("this backend does not support the operation"), kind: KindUnsupported}), caps: p.capabilities()}
}

// Disabled returns a store in which memory is switched off: reads find
// nothing, and every mutation is refused with the reason. Nothing is ever
// accepted and then dropped.
func Disabled(reason string) Store {
	return Store{Parts: Parts{}.fill(absent{err: errors.New(reason), kind: KindRefused, quiet: true})}
}

// Replica returns the part that sync works on.
func (s Store) Replica() Replica { return s.Sync }

// Capabilities tells which optional contracts s really has.
func (s Store) Capabilities() Capabilities { return s.caps }

// Present returns the parts s really has. The others are nil.
func (s Store) Present() Parts {
	p := s.Parts
	p.put(nil, func(part any) fate {
		if isAbsent(part) {
			return dropped
		}
		return kept
	})
	return p
}

func (p Parts) capabilities() Capabilities {
	return Capabilities{
		Memories: p.Memories != nil, Batch: p.Batch != nil, Edit: p.Editor != nil, Erase: p.Eraser != nil,
		Relations: p.Relations != nil, Concepts: p.Concepts != nil,
		Compactions: p.Compactions != nil, Stats: p.Stats != nil, Changes: p.Changes != nil,
		Ingest: p.Ingest != nil && p.Activities != nil, Sync: p.Sync != nil,
		Turns: p.Turns != nil, Loops: p.Loops != nil, States: p.States != nil,
		Sessions: p.Sessions != nil && p.Names != nil && p.Active != nil,
		Notes:    p.Notes != nil && p.NoteLog != nil,
		Control: p.Tasks != nil && p.Events != nil && p.Approvals != nil && p.Results != nil &&
			p.Queue != nil && p.QueueKeeper != nil,
		Documents: p.Documents != nil,
		Semantic:  p.Semantic && p.LongTerm != nil,
	}
}
