package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// sweeper is a target that can remove what writers that died have left in it.
type sweeper interface {
	Sweep(ctx context.Context, before amber.Time) (removed int, err error)
}

// sweepTemporary removes temporary files of writers that died, in the
// repository and beside it. No writer is as slow as the grace time.
func (rep *repository) sweepTemporary(ctx context.Context) ([]string, error) {
	before := rep.e.o.Clock().Add(-rep.e.o.Grace)
	removed := 0
	if s, ok := rep.target.(sweeper); ok {
		n, err := s.Sweep(ctx, amber.At(before))
		if err != nil {
			return nil, err
		}
		removed += n
	}
	for _, dir := range []string{rep.e.o.Home.CacheDir(), rep.e.o.Home.KeysDir(), rep.e.o.Home.BundlesDir(rep.tenant)} {
		n, err := rep.e.sweepFolder(ctx, dir, before, 0)
		if err != nil {
			return nil, fail("sweep temporary files", dir, err)
		}
		removed += n
	}
	agents, err := rep.e.o.Home.Agents(rep.tenant)
	if err != nil {
		return nil, err
	}
	for _, id := range agents {
		agent, err := rep.e.place.Folder(rep.tenant, id)
		if err != nil {
			return nil, err
		}
		n, err := rep.e.sweepFolder(ctx, agent.Dir(), before, maxSweepDepth) // what is below is not ours
		if err != nil {
			return nil, fail("sweep temporary files", agent.Dir(), err)
		}
		removed += n
	}
	if removed == 0 {
		return nil, nil
	}
	return []string{fmt.Sprintf("%d temporary files", removed)}, nil
}

// maxSweepDepth is deeper than any folder of caches and keys.
const maxSweepDepth = 8

func (e *Engine) sweepFolder(ctx context.Context, dir string, before time.Time, depth int) (removed int, err error) {
	if err := ctx.Err(); err != nil || depth > maxSweepDepth || dir == e.scratchDir() {
		return 0, err
	}
	entries, err := e.o.FS.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if entry.IsDir() {
			n, err := e.sweepFolder(ctx, path, before, depth+1)
			if removed += n; err != nil {
				return removed, err
			}
			continue
		}
		if !strings.HasPrefix(entry.Name(), fsx.TempPrefix) || !entry.Type().IsRegular() {
			continue
		}
		info, err := entry.Info()
		if err != nil || !info.ModTime().Before(before) {
			continue
		}
		if err := e.o.FS.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed++
	}
	return removed, nil
}
