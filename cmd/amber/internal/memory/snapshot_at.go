package memory

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/wire"
)

// withView answers from a snapshot: it opens the one the argument names and
// closes it. The live agent is only asked for the active session.
func (a *app) withView(cmd *cobra.Command, arg string, fn func(ctx context.Context, s *cli.Opened, v agent.View) error) error {
	return a.WithSnapshot(cmd, cli.MayBeOpened, arg, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine, ref wire.SnapshotRef) error {
		v, err := cli.Working(a.App, "opening the snapshot", func() (agent.View, error) { return e.At(ctx, ref) })
		if err != nil {
			return err
		}
		return errors.Join(fn(ctx, s, v), v.Close())
	})
}

// RecalledAt is the JSON of recall --at; with --explain it tells how much was
// read, where that is known.
type RecalledAt struct {
	amber.RecallResult
	Read *agent.ViewStats `json:"read,omitempty"`
}

// recallAt answers a question from a snapshot.
func (a *app) recallAt(cmd *cobra.Command, at string, f filterFlags, q amber.Query, weak bool) error {
	return a.withView(cmd, at, func(ctx context.Context, s *cli.Opened, v agent.View) error {
		var err error
		if q.Filter, err = a.filter(ctx, s, f); err != nil {
			return err
		}
		result, err := v.Recall(ctx, q)
		if err != nil {
			return err
		}
		out := RecalledAt{RecallResult: result}
		if c, ok := v.(interface{ Stats() agent.ViewStats }); ok && q.Explain {
			read := c.Stats()
			out.Read = &read
		}
		err = a.Out.Show(out, func(w io.Writer) { a.printHits(w, result, weak) })
		if out.Read != nil {
			a.noteRead(*out.Read)
		}
		return err
	})
}

// listAt lists the memories of a snapshot.
func (a *app) listAt(cmd *cobra.Command, f listFlags) error {
	return a.withView(cmd, f.at, func(ctx context.Context, s *cli.Opened, v agent.View) error {
		filter, err := a.filter(ctx, s, f.filterFlags)
		if err != nil {
			return err
		}
		err = cli.ShowPage(a.App, cmd, f.page, func(n int, c amber.Cursor) (amber.Page[amber.Memory], error) {
			return v.List(ctx, amber.ListQuery{Filter: filter, All: f.all, Deleted: f.deleted, Limit: n, Cursor: c})
		}, a.printMemories)
		if c, ok := v.(interface{ Stats() agent.ViewStats }); ok && f.explain {
			a.noteRead(c.Stats())
		}
		return err
	})
}

// noteRead tells how much of a snapshot an answer needed.
func (a *app) noteRead(s agent.ViewStats) {
	share := 0.0
	if s.PagesTotal > 0 {
		share = 100 * float64(s.PagesRead) / float64(s.PagesTotal)
	}
	a.Out.Note("read %d of %d pages (%.1f %%), %s from the repository", s.PagesRead, s.PagesTotal, share, cli.ByteSize(s.BytesRead))
}
