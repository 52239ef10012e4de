package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// A restored generation has a file in its folder that says which restore made it:
//
//	amber-restored 1
//	from 0193c5a8-…
//	replaces 3
//	safety 0193c5a8-…
//	crc32c 1a2b3c4d
//
// The file becomes live with the generation, in the same step, so it shows how a restore ended
// whose process died. The line of the safety snapshot has a dash where no safety snapshot was
// taken.
const (
	restoredName = "RESTORED"
	restoredForm = "amber-restored 1\nfrom %s\nreplaces %d\nsafety %s\n"
	noSafety     = "-"
)

func marshalRestored(o wire.GenerationOrigin) []byte {
	return withChecksum(restoredForm, o.From, o.Replaces, cmp.Or(o.SafetySnapshot, noSafety))
}

// parseRestored reads what marshalRestored writes, and nothing else.
func parseRestored(b []byte) (o wire.GenerationOrigin, ok bool) {
	_, err := fmt.Sscanf(string(b), restoredForm, &o.From, &o.Replaces, &o.SafetySnapshot)
	if o.SafetySnapshot == noSafety {
		o.SafetySnapshot = ""
	} else if err == nil {
		_, err = amber.ParseSnapshotID(string(o.SafetySnapshot))
	}
	if err != nil || amber.CheckID("from", string(o.From)) != nil || o.Replaces <= 0 || !bytes.Equal(b, marshalRestored(o)) {
		return wire.GenerationOrigin{}, false
	}
	return o, true
}

// sayOrigin writes into a generation that is being built which restore makes it.
func (s *restoration) sayOrigin(dir string, replaces int64) error {
	path := filepath.Join(dir, restoredName)
	b := marshalRestored(wire.GenerationOrigin{From: s.request.ID, Replaces: replaces, SafetySnapshot: s.report.SafetySnapshot})
	return fail("note restore", path, fsx.BuildOf(s.e.o.FS, path, 0o600, b))
}

// Generation implements [wire.GenerationReader].
func (e *Engine) Generation(ctx context.Context, tenant amber.TenantID, id amber.AgentID) (wire.Generation, error) {
	agent, err := e.place.Folder(tenant, id)
	if err != nil {
		return wire.Generation{}, err
	}
	return e.place.Generation(ctx, agent)
}

func (p folders) generation(agent *home.Agent, c home.Current) (wire.Generation, error) {
	g := wire.Generation{Generation: c.Generation}
	path := filepath.Join(agent.GenDir(c), restoredName)
	b, err := fsx.ReadFile(p.o.FS, path, maxReplaced)
	switch {
	case err == nil:
		o, ok := parseRestored(b)
		if !ok || o.Replaces >= c.Generation {
			return g, amber.Errorf(amber.KindDamaged, "look at generation", string(agent.ID()), "the record RESTORED of generation %d cannot be read", c.Generation)
		}
		g.Restored = &o
	case !errors.Is(err, fs.ErrNotExist):
		return g, fail("look at generation", path, err)
	}
	r, err := agent.Restoring()
	if err != nil || r == nil {
		return g, err
	}
	g.Restoring = &wire.UnfinishedRestore{
		From: amber.SnapshotID(r.From), Generation: r.Generation, Replaces: r.Replaces, Switched: r.Switched, Running: r.Running,
	}
	return g, nil
}
