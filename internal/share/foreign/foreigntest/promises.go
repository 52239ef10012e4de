package foreigntest

import (
	"context"
	"errors"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/test/must"
)

// Detects holds how well paths fit a format against what is wanted.
func Detects(t testing.TB, f foreign.Format, want map[string]foreign.Match) {
	t.Helper()
	for name, match := range want {
		tree := must.Get(foreign.Open(name))(t)
		must.Equal(t, name, f.Detect(tree), match)
		must.Do(t, tree.Close())
	}
}

// DetectsNone holds that a format claims no file of a name with one of these texts.
func DetectsNone(t testing.TB, f foreign.Format, file string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		Detects(t, f, map[string]foreign.Match{Files(t, map[string]string{file: text}): foreign.No})
	}
}

// ReadAny reads a path as a format, also one that is not detected as it.
func ReadAny(t testing.TB, f foreign.Format, name string) *Recorder {
	t.Helper()
	r := &Recorder{}
	must.Do(t, readInto(t.Context(), t, f, name, r))
	return r
}

func readInto(ctx context.Context, t testing.TB, f foreign.Format, name string, to foreign.Sink) error {
	t.Helper()
	tree := must.Get(foreign.Open(name))(t)
	defer func() { must.Do(t, tree.Close()) }()
	return f.Read(ctx, tree, Options(), to)
}

var errSink = errors.New("the sink is full")

// full is a sink that takes so many items.
type full struct {
	Recorder
	left int
}

func (s *full) count() error {
	if s.left--; s.left < 0 {
		return errSink
	}
	return nil
}

// Memory implements [foreign.Sink].
func (s *full) Memory(foreign.Memory) error { return s.count() }

// Relation implements [foreign.Sink].
func (s *full) Relation(foreign.Relation) error { return s.count() }

// Note implements [foreign.Sink].
func (s *full) Note(foreign.Note) error { return s.count() }

// Turn implements [foreign.Sink].
func (s *full) Turn(foreign.Turn) error { return s.count() }

// Record implements [foreign.Sink].
func (s *full) Record(foreign.Place, []amber.SyncMemory) error { return s.count() }

// RelationRecord implements [foreign.Sink].
func (s *full) RelationRecord(foreign.Place, amber.Relation) error { return s.count() }

// Session implements [foreign.Sink].
func (s *full) Session(foreign.Session) (bool, error) { return true, s.count() }

// knowing is a sink that knows every turn.
type knowing struct{ Recorder }

// Session implements [foreign.Sink].
func (s *knowing) Session(x foreign.Session) (bool, error) {
	_, err := s.Recorder.Session(x)
	return false, err
}

// Promises holds a format against what every one of them promises its caller, for a path that it reads: the end of the
// context ends the reading, and so does an error of the sink, whichever item it comes at; the turns of a session that is
// known are not given out, and everything else is.
func Promises(t testing.TB, f foreign.Format, name string) {
	t.Helper()
	all := ReadAny(t, f, name)
	must.Hold(t, all.Count() > 0, "%s: nothing is read", name)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Is(t, "a context that has ended", readInto(ctx, t, f, name, &Recorder{}), context.Canceled)
	for left := range all.Count() {
		must.Is(t, "a sink that is full", readInto(t.Context(), t, f, name, &full{left: left}), errSink)
	}
	known := &knowing{}
	must.Do(t, readInto(t.Context(), t, f, name, known))
	must.Equal(t, "turns of known sessions", len(known.Turns), 0)
	must.Equal(t, "sessions", len(known.Sessions), len(all.Sessions))
	known.Turns = all.Turns
	must.Equal(t, "everything but turns", known.Count(), all.Count())
}
