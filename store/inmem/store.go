package inmem

import (
	"context"
	"io"
	"iter"
	"sync"

	"github.com/amber-memory/amber"
)

// Options say where a store gets its time and chance from, and who it is.
type Options struct {
	Clock       amber.Clock        // required
	Random      io.Reader          // required; ids and jitter are read from it
	Device      string             // named in origins; default "inmem"
	Incarnation string             // named in positions; default a new UUIDv7
	Queue       amber.QueueOptions // zero fields take their defaults
	LogAll      bool               // changes of notes and documents are in the change log, as in a database
}

// Store keeps everything in memory. It satisfies every contract and is safe
// for concurrent use. Make one with [New].
type Store struct {
	clock  amber.Clock
	random io.Reader
	device string
	limits amber.QueueOptions
	logAll bool

	mu sync.Mutex // guards everything below

	records   map[amber.MemoryID]*record // replaced whole, never changed in place
	erased    map[amber.MemoryID]amber.Origin
	answers   map[string]answer // by idempotency key
	relations map[string]amber.Relation
	changes   changeLog

	turns       []amber.Turn           // in order of append
	places      map[amber.TurnID]int64 // of their passages in the conversation
	compactions []amber.Compaction     // in order of append
	sessions    map[amber.SessionID]amber.Session
	active      map[string]amber.SessionID // by binding
	states      map[amber.SessionID]amber.SessionState
	loops       map[amber.SessionID]amber.PendingLoop

	cursors  map[string]amber.JournalCursor       // by journal
	native   map[string]bool                      // events, by id
	observed map[string][]amber.Time              // when events were, by id
	activity map[amber.SessionID][]amber.Activity // in the order of insertion; replaced whole

	notes     map[string]amber.Note
	noteParts map[string][]notePart // of the present text, made on first use
	commits   []commit

	tasks     map[string]amber.Task
	histories map[string]*history
	approvals []amber.Approval // in order of request
	results   map[node]amber.Result
	queue     queue
	control   changeLog
	documents map[string]amber.Document
}

// New returns an empty store. The error is of kind invalid when the clock or
// the source of randomness is missing; otherwise it comes from that source.
func New(o Options) (*Store, error) {
	if o.Clock == nil || o.Random == nil {
		return nil, amber.Errorf(amber.KindInvalid, "make store", "inmem", "clock and random source are required")
	}
	if o.Device == "" {
		o.Device = "inmem"
	}
	if o.Incarnation == "" {
		id, err := amber.NewUUID(o.Clock(), o.Random)
		if err != nil {
			return nil, err
		}
		o.Incarnation = id
	}
	return &Store{
		clock: o.Clock, random: o.Random, device: o.Device, limits: o.Queue.WithDefaults(), logAll: o.LogAll,
		places:  map[amber.TurnID]int64{},
		records: map[amber.MemoryID]*record{}, erased: map[amber.MemoryID]amber.Origin{},
		answers: map[string]answer{}, relations: map[string]amber.Relation{},
		sessions: map[amber.SessionID]amber.Session{}, active: map[string]amber.SessionID{},
		states: map[amber.SessionID]amber.SessionState{}, loops: map[amber.SessionID]amber.PendingLoop{},
		cursors: map[string]amber.JournalCursor{}, native: map[string]bool{}, observed: map[string][]amber.Time{},
		activity: map[amber.SessionID][]amber.Activity{},
		notes:    map[string]amber.Note{}, noteParts: map[string][]notePart{},
		tasks: map[string]amber.Task{}, histories: map[string]*history{}, results: map[node]amber.Result{},
		queue: newQueue(), documents: map[string]amber.Document{},
		changes: changeLog{incarnation: o.Incarnation}, control: changeLog{incarnation: o.Incarnation},
	}, nil
}

// Store returns every contract in one value.
func (s *Store) Store() amber.Store { return amber.NewStore(s.Parts()) }

// Parts returns every contract, to be put together with parts of other
// backends.
func (s *Store) Parts() amber.Parts {
	return amber.Parts{
		LongTerm: s, Memories: s, Batch: s, Editor: s, Eraser: s,
		Relations: s, Concepts: s, Compactions: s, Stats: s, Changes: s, Everything: everything{s},
		Turns: s, Loops: s, Sessions: s, Names: s, Active: s, States: s, Ingest: s, Activities: s,
		Notes: s, NoteLog: s,
		Tasks: s, Events: s, Approvals: s, Results: s, Queue: s, QueueKeeper: s,
		ControlChanges: controlChanges{s}, Documents: s,
	}
}

// Health implements [amber.LongTerm]: memory is always there.
func (s *Store) Health(ctx context.Context) (amber.Health, error) {
	return run(ctx, s, "check health", func() (amber.Health, error) {
		return amber.Health{Backend: backendName, Status: amber.Healthy}, nil
	})
}

// run takes the store's turn and runs f in it, unless ctx has ended.
func run[T any](ctx context.Context, s *Store, op string, f func() (T, error)) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		var none T
		return none, &amber.Error{Op: op, Kind: amber.KindUnreachable, Err: err}
	}
	return f()
}

// do is run for operations without an answer.
func do(ctx context.Context, s *Store, op string, f func() error) error {
	_, err := run(ctx, s, op, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

func (s *Store) now() amber.Time { return amber.At(s.clock()) }

func (s *Store) newID(now amber.Time) (string, error) { return amber.NewUUID(now.Time(), s.random) }

// origin stamps a record of this device.
func (s *Store) origin(now amber.Time, counter uint64) amber.Origin {
	return amber.Origin{Device: s.device, Counter: counter, Clock: s.changes.tick(now)}
}

// orNewID returns id, or a new one where it is empty.
func orNewID[T ~string](s *Store, now amber.Time, id T) (T, error) {
	if id != "" {
		return id, nil
	}
	fresh, err := s.newID(now)
	return T(fresh), err
}

// lookup returns a copy of what is stored under a key, or that there is no record id.
func lookup[K comparable, V any](op, id string, stored map[K]V, key K, copied func(V) V) (V, error) {
	v, found := stored[key]
	if !found {
		return v, notFound(op, id)
	}
	return copied(v), nil
}

// where returns the items that keep says yes to.
func where[T any](items iter.Seq[T], keep func(T) bool) []T {
	found := []T{}
	for v := range items {
		if keep(v) {
			found = append(found, v)
		}
	}
	return found
}

func notFound(op, id string) error { return &amber.Error{Op: op, Kind: amber.KindNotFound, ID: id} }

func conflict(op, id, why string) error { return amber.Errorf(amber.KindConflict, op, id, "%s", why) }

func invalid(op, id, why string) error { return amber.Errorf(amber.KindInvalid, op, id, "%s", why) }
