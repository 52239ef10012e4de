package gitsync

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/githook"
	"github.com/amber-memory/amber/wire"
)

// MinInterval is the shortest interval of a watch.
const MinInterval = 100 * time.Millisecond

// Round exports and imports once.
type Round interface {
	Export(ctx context.Context) (wire.SyncExport, error)
	Import(ctx context.Context, only func(file string) bool) (wire.SyncImport, error)
}

// WatchOptions say what is watched. Upstream and Git may be empty.
type WatchOptions struct {
	Dir      string        // the folder
	Interval time.Duration // at least MinInterval
	// Upstream is the branch whose files are imported; "" or
	// [githook.TrackedBranch] is the one that the current branch tracks when
	// watching begins. Outside of a git work tree every file is imported.
	Upstream string
	Git      githook.Options
	Clock    amber.Clock
	// With opens the store for one round and closes it: a snapshot may be
	// restored between two rounds.
	With func(ctx context.Context, fn func(ctx context.Context, r Round) error) error
	// Tell is called with the report of each round. An error of it ends the watch.
	Tell func(Watched) error
}

// Watched is what happened in a round: an export, an import or an error.
type Watched struct {
	At     amber.Time       `json:"at"`
	Export *wire.SyncExport `json:"export,omitempty"`
	Import *wire.SyncImport `json:"import,omitempty"`
	Error  *WatchError      `json:"error,omitempty"`
}

// WatchError says why a round failed.
type WatchError struct {
	Kind    amber.Kind `json:"kind"`
	Message string     `json:"message"`
}

// Watch exports what is new and imports what appears in a folder.
type Watch struct {
	o      WatchOptions
	seen   string // how the folder looked at the last import
	failed string // the error that was told last
	// NoUpstream says that the current branch tracks no other branch: nothing is
	// imported until it does.
	NoUpstream bool
}

// NewWatch finds the branch whose files are imported. A branch that is checked out
// later does not change it: a stranger's branch can be looked at without importing
// from it. Errors: invalid; those of [githook].
func NewWatch(ctx context.Context, o WatchOptions) (*Watch, error) {
	if o.Interval < MinInterval || o.Clock == nil || o.With == nil || o.Tell == nil {
		return nil, amber.Errorf(amber.KindInvalid, "watch folder", o.Dir, "want an interval of at least %s, a clock, With and Tell", MinInterval)
	}
	w := &Watch{o: o}
	named := o.Upstream != ""
	if named && o.Upstream != githook.TrackedBranch {
		return w, nil
	}
	tree, err := o.Git.OpenAt(ctx, o.Dir)
	if err != nil {
		if amber.KindOf(err) == amber.KindNotFound && !named {
			return w, nil // outside of a work tree every file counts
		}
		return nil, err
	}
	w.o.Upstream, err = tree.Upstream(ctx)
	if amber.KindOf(err) == amber.KindNotFound && !named {
		w.NoUpstream, w.o.Upstream = true, githook.TrackedBranch
		return w, nil
	}
	return w, err
}

// Run works until ctx ends, which is no error. A round that fails is reported,
// once as long as the error stays the same, and does not end the watch.
func (w *Watch) Run(ctx context.Context) error {
	for {
		if err := w.round(ctx); ctx.Err() == nil {
			if err := w.tellError(err); err != nil {
				return err
			}
		}
		timer := time.NewTimer(w.o.Interval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

func (w *Watch) round(ctx context.Context) error {
	return w.o.With(ctx, func(ctx context.Context, r Round) error {
		return errors.Join(w.exportNew(ctx, r), w.importNew(ctx, r))
	})
}

func (w *Watch) exportNew(ctx context.Context, round Round) error {
	r, err := round.Export(ctx)
	if err != nil || r.IsEmpty && (r.Also == nil || r.Also.IsEmpty) {
		return err
	}
	return w.tell(Watched{Export: &r})
}

func (w *Watch) importNew(ctx context.Context, round Round) error {
	now, err := w.look(ctx)
	if err != nil || now == w.seen || now == "" {
		return err
	}
	only, err := w.o.Git.UpstreamOnly(ctx, w.o.Dir, w.o.Upstream)
	if err != nil {
		return err
	}
	r, err := round.Import(ctx, only)
	if err != nil {
		return err
	}
	w.seen = now
	if r.Chunks == 0 && len(r.Quarantined) == 0 {
		return nil
	}
	return w.tell(Watched{Import: &r})
}

// look returns how the folder looks: names, sizes and times, and the commit of the
// upstream branch; "" when there is nothing to import.
func (w *Watch) look(ctx context.Context) (string, error) {
	var b strings.Builder
	for _, dir := range []string{w.o.Dir, filepath.Join(w.o.Dir, chunksDir)} {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, os.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", &amber.Error{Op: "read sync folder", Kind: amber.KindInternal, ID: dir, Err: err}
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && !e.IsDir() {
				fmt.Fprintf(&b, "%s %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	commit, found, err := w.upstreamCommit(ctx)
	if err != nil || !found {
		return "", err
	}
	return b.String() + commit, nil
}

// upstreamCommit returns where the branch is. If the current branch tracked none
// when watching began, the first that appears is it; found is false until then.
func (w *Watch) upstreamCommit(ctx context.Context) (commit string, found bool, err error) {
	if w.o.Upstream == "" {
		return "", true, nil
	}
	tree, err := w.o.Git.OpenAt(ctx, w.o.Dir)
	if err != nil {
		return "", false, err
	}
	if w.o.Upstream == githook.TrackedBranch {
		ref, err := tree.Upstream(ctx)
		if amber.KindOf(err) == amber.KindNotFound {
			return "", false, nil
		}
		if err != nil {
			return "", false, err
		}
		w.o.Upstream = ref
	}
	commit, err = tree.Commit(ctx, w.o.Upstream)
	return commit, true, err
}

func (w *Watch) tell(what Watched) error {
	what.At = amber.At(w.o.Clock())
	return w.o.Tell(what)
}

// tellError tells why a round failed, once as long as the message is the same.
func (w *Watch) tellError(err error) error {
	message := ""
	if err != nil {
		message = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	same := message == w.failed
	w.failed = message
	if err == nil || same {
		return nil
	}
	return w.tell(Watched{Error: &WatchError{amber.KindOf(err), message}})
}
