package home_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// A folder becomes a copy of any generation that the caller names, and its data of another
// generation is gone.
func TestBecome(t *testing.T) {
	t.Parallel()
	h := must.Get(home.At(homeDir(t), home.Options{Clock: today, Random: rand.Reader}))(t)
	a := must.Get(h.Agent("acme", "copy"))(t)
	must.Kind(t, "without a folder", a.Become(t.Context(), home.Current{Generation: 1, Incarnation: "i", Device: "d"}, nil), amber.KindNotFound)
	must.Do(t, a.MakeFolder())
	become := func(c home.Current, want bool, fail error) error {
		t.Helper()
		return a.Become(t.Context(), c, func(dir string, same bool) error {
			must.Equal(t, "same", same, want)
			entries := must.Get(os.ReadDir(dir))(t)
			must.Equal(t, "is something there", len(entries) > 0, want)
			must.Do(t, os.WriteFile(filepath.Join(dir, "data"), nil, 0o600))
			return fail
		})
	}
	one := home.Current{Generation: 7, Incarnation: "one", Device: "d", Clock: amber.StampAt(today())}
	two := home.Current{Generation: 9, Incarnation: "two", Device: "d", Clock: one.Clock}
	must.Do(t, become(one, false, nil))
	must.Do(t, become(one, true, nil))
	must.Equal(t, "current", must.Get(a.Current())(t), one)
	// A restore on the folder that was cut off is undone.
	must.Do(t, a.Operate(t.Context(), func() error {
		_, err := a.BeginRestore(context.WithoutCancel(t.Context()), "x")
		return err
	}))
	must.Do(t, become(one, true, nil))
	must.Equal(t, "generations", must.Get(a.Generations())(t), []int64{7})
	// A Become that fails leaves nothing that looks whole.
	boom := errors.New("boom")
	must.Hold(t, errors.Is(become(two, false, boom), boom), "the error is lost")
	_, err := a.Current()
	must.Kind(t, "after a failure", err, amber.KindDamaged)
	must.Do(t, a.Become(t.Context(), two, func(dir string, same bool) error {
		must.Equal(t, "same", same, false)
		return nil
	}))
	must.Equal(t, "current", must.Get(a.Current())(t), two)
	must.Equal(t, "generations", must.Get(a.Generations())(t), []int64{9})
	must.Kind(t, "no generation", a.Become(t.Context(), home.Current{}, nil), amber.KindInvalid)
	must.Do(t, a.Forget(t.Context()))
	_, err = a.Current()
	must.Kind(t, "forgotten", err, amber.KindNotFound)
}
