package home_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

func aMove(state home.MoveState) home.Move {
	return home.Move{
		ID: "0193c5a8-0000-7000-8000-0123456789ab", State: state, Database: "0193c5a8-0000-7000-8000-0123456789ac",
		Place: home.OnePlace("the PostgreSQL\ndatabase amber on db.example.org"),
	}
}

// An agent that moves is refused, to those who have it open too, until the move is over.
func TestMoved(t *testing.T) {
	t.Parallel()
	dir := homeDir(t)
	a, other := handle(t, dir, options(fsx.OS())), handle(t, dir, options(fsx.OS()))
	c, _, err := a.Create(t.Context(), build(fsx.OS()))
	must.Do(t, err)
	write := func(a *home.Agent) error {
		return a.Write(t.Context(), "memory", func(home.Current) error { return nil })
	}
	must.NoError(t, write(other))
	begin := func(m home.Move) (err error) {
		return a.Operate(t.Context(), func() error { _, err = a.BeginMove(t.Context(), m); return err })
	}
	must.Do(t, begin(aMove(home.MoveLeaving)))
	for _, x := range []*home.Agent{a, other, handle(t, dir, options(fsx.OS()))} {
		must.Kind(t, "a write", write(x), amber.KindRefused, "the PostgreSQL database amber on db.example.org")
		must.Kind(t, "a read", x.Gone(c), amber.KindRefused, "is being moved to")
		must.Equal(t, "hint", amber.HintOf(x.Gone(c)) != "", true)
	}
	must.Kind(t, "a second move", begin(aMove(home.MoveLeaving)), amber.KindRefused)
	mover := a.Mover(aMove("").ID)
	must.NoError(t, write(mover))
	must.NoError(t, mover.Gone(c))
	must.Kind(t, "another mover", write(a.Mover("0193c5a8-0000-7000-8000-0123456789ff")), amber.KindRefused)

	note := must.Get(a.Moved())(t)
	must.Equal(t, "generation", note.Generation, c.Generation)
	note.State = home.MoveLeft
	must.Do(t, mover.NoteMove(*note))
	must.Kind(t, "a read of what has left", a.Gone(home.Current{Generation: 2}), amber.KindRefused, "has moved to")
	must.Kind(t, "removing the live generation", a.RemoveGeneration(t.Context(), c.Generation), amber.KindRefused)
	note.Generation = 7
	must.Do(t, mover.NoteMove(*note))
	must.Kind(t, "removing what a move has left", a.RemoveGeneration(t.Context(), 7), amber.KindRefused, "has moved")
	must.NoError(t, mover.RemoveGeneration(t.Context(), 7))
	must.Do(t, mover.EndMove())
	must.NoError(t, write(other))
	must.NoError(t, other.Gone(c))

	must.Do(t, begin(aMove(home.MoveArriving)))
	must.Kind(t, "a write to what is replaced", write(other), amber.KindRefused, "is being moved here from")
	must.NoError(t, other.Gone(c))
}

// Every byte of the note counts.
func TestMovedIsChecked(t *testing.T) {
	t.Parallel()
	dir := homeDir(t)
	a := handle(t, dir, options(fsx.OS()))
	c, _, err := a.Create(t.Context(), build(fsx.OS()))
	must.Do(t, err)
	must.Do(t, a.Operate(t.Context(), func() error {
		return must.Err(a.BeginMove(t.Context(), aMove(home.MoveLeaving)))
	}))
	path := filepath.Join(a.Dir(), "MOVED")
	text := must.Get(os.ReadFile(path))(t)
	for i := range text {
		changed := append([]byte{}, text...)
		changed[i] ^= 1
		must.Do(t, os.WriteFile(path, changed, 0o600))
		k := amber.KindOf(a.Gone(c))
		must.Hold(t, k == amber.KindDamaged || k == amber.KindTooNew, "byte %d changed: %s", i, k)
	}
	must.Do(t, os.WriteFile(path, text, 0o600))
	bad := aMove(home.MoveLeaving)
	bad.Generation, bad.Place = 1, "two\nlines"
	must.Kind(t, "a place of two lines", a.NoteMove(bad), amber.KindInvalid)
}
