package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

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
	restoredName  = "RESTORED"
	restoredMagic = "amber-restored 1"
	noSafety      = "-"
)

func marshalRestored(o wire.GenerationOrigin) []byte {
	safety := string(o.SafetySnapshot)
	if safety == "" {
		safety = noSafety
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\nfrom %s\nreplaces %d\nsafety %s\n", restoredMagic, o.From, o.Replaces, safety)
	fmt.Fprintf(&b, "crc32c %08x\n", crc32.Checksum(b.Bytes(), castagnoli))
	return b.Bytes()
}

// parseRestored reads what marshalRestored writes, and nothing else.
func parseRestored(b []byte) (o wire.GenerationOrigin, ok bool) {
	lines := strings.Split(string(b), "\n")
	if len(lines) != 6 {
		return o, false
	}
	from, _ := strings.CutPrefix(lines[1], "from ")
	replaces, _ := strings.CutPrefix(lines[2], "replaces ")
	safety, _ := strings.CutPrefix(lines[3], "safety ")
	o.From = amber.SnapshotID(from)
	o.Replaces, _ = strconv.ParseInt(replaces, 10, 64)
	if safety != noSafety {
		o.SafetySnapshot = amber.SnapshotID(safety)
		if _, err := amber.ParseSnapshotID(safety); err != nil {
			return wire.GenerationOrigin{}, false
		}
	}
	if amber.CheckID("from", from) != nil || o.Replaces <= 0 || !bytes.Equal(b, marshalRestored(o)) {
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
