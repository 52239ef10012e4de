package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/fsx"
)

// provideName marks a generation whose state the providers have not got back
// yet. It becomes live with the generation, and goes when they have: whatever
// kills a restore in between, the next operation finishes it.
const provideName = "PROVIDE"

// maxDocument bounds a document of runtime state.
const maxDocument = 16 << 20

// markProvide marks a generation that is being built.
func (e *Engine) markProvide(gen string) error {
	if len(e.o.State) == 0 {
		return nil
	}
	path := filepath.Join(gen, provideName)
	f, err := fsx.Build(e.o.FS, path, 0o600)
	if err == nil {
		err = f.Close()
	}
	return fail("mark state", path, err)
}

// provide gives the state of the live generation back to its providers, if
// that is still to be done. A key that has no document is cleared. The caller
// is inside Operate.
func (e *Engine) provide(ctx context.Context, agent *home.Agent) error {
	c, err := agent.Current()
	if err != nil || len(e.o.State) == 0 {
		return err
	}
	mark := filepath.Join(agent.GenDir(c), provideName)
	if _, err := e.o.FS.Lstat(mark); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fail("restore state", mark, err)
	}
	for _, key := range slices.Sorted(maps.Keys(e.o.State)) {
		path := filepath.Join(places(agent.GenDir(c)).State, key+".json")
		doc, err := fsx.ReadFile(e.o.FS, path, maxDocument)
		if errors.Is(err, fs.ErrNotExist) {
			doc, err = nil, nil
		}
		if err == nil {
			err = e.o.State[key].RestoreState(ctx, agent.Tenant(), agent.ID(), key, doc)
		}
		if err != nil {
			return fail("restore state", key, err)
		}
	}
	return fail("restore state", mark, fsx.RemoveAll(e.o.FS, mark))
}
