package amber

import (
	"errors"
	"reflect"
)

// Parts are the contracts a store is put together from. A nil part is one
// this store cannot do. The tag of a part names the layer it belongs to.
type Parts struct {
	// Long-term memory.
	LongTerm    LongTerm     `layer:"long_term"`
	Memories    MemoryReader `layer:"long_term"`
	Batch       BatchWriter  `layer:"long_term"`
	Editor      Editor       `layer:"long_term"`
	Eraser      Eraser       `layer:"long_term"`
	Relations   Relations    `layer:"long_term"`
	Concepts    Concepts     `layer:"long_term"`
	Compactions Compactions  `layer:"turns"`
	Stats       StatsReader  `layer:"long_term"`
	Changes     ChangeLog    `layer:"long_term"`
	Everything  Everything   `layer:"long_term"`
	Semantic    bool         `layer:"long_term"` // recall finds by meaning, too, not by words alone

	// Sessions and what belongs to them.
	Turns    Turns          `layer:"turns"`
	Loops    Loops          `layer:"loops"`
	Sessions Sessions       `layer:"sessions"`
	Names    SessionEditor  `layer:"sessions"`
	Active   ActiveSessions `layer:"sessions"`
	States   SessionStates  `layer:"sessions"`

	// Ingest takes the entries that are drained from the crash journal. It reaches over the layers of turns,
	// sessions and long-term memory, so one backend serves them.
	Ingest     Ingester   `layer:"sessions"`
	Activities Activities `layer:"sessions"`

	// Sync reaches over the same layers.
	Sync Replica `layer:"long_term"`

	// Notes.
	Notes   Notes   `layer:"notes"`
	NoteLog NoteLog `layer:"notes"`

	// Control plane.
	Tasks          Tasks       `layer:"control"`
	Events         TaskEvents  `layer:"control"`
	Approvals      Approvals   `layer:"control"`
	Results        Results     `layer:"control"`
	Queue          Queue       `layer:"control"`
	QueueKeeper    QueueKeeper `layer:"control"`
	ControlChanges ChangeLog   `layer:"control"`

	// Runtime state of programs. It belongs to the layer of the control plane:
	// a program whose cursor is not found would begin again.
	Documents Documents `layer:"control"`
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
	to, v := reflect.ValueOf(p).Elem(), reflect.ValueOf(from)
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("layer") == string(l) {
			to.Field(i).Set(v.Field(i))
		}
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
		Documents: p.Documents != nil, Semantic: p.Semantic && p.LongTerm != nil,
	}
}
