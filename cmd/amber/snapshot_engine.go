package main

import (
	"context"
	"runtime/debug"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/snapshot"
)

// snapshotEngine is what the verbs about snapshots work with.
type snapshotEngine interface {
	amber.Snapshotter
	amber.RepositoryChecker
	amber.Bundler
	// Acceptable says whether what carries a signature may be used. Errors:
	// untrusted; refused by policy.
	Acceptable(what string, s amber.SignatureReport) error
	readers
	copier
	// At opens the memory of a snapshot to read from; the live agent is not
	// touched. Whoever opened it closes it. Errors: not_found; damaged;
	// too_new.
	At(ctx context.Context, ref amber.SnapshotRef) (snapshotView, error)
	// ExtractSource writes what a snapshot holds of a source into dir, which
	// is not there or empty. On error dir may hold a part of it. Errors:
	// not_found when the snapshot does not hold the source; damaged; internal
	// when the disk is full or fails.
	ExtractSource(ctx context.Context, ref amber.SnapshotRef, name, dir string) (extraction, error)
}

// readers decides who can read a repository.
type readers interface {
	// Recipients returns whom it is encrypted to; none when it is not. Errors:
	// not_found without a repository.
	Recipients(ctx context.Context, tenant amber.TenantID) ([]string, error)
	// ChangeRecipients returns them after a change. Errors: invalid; refused
	// when this home would be shut out; not_found; conflict.
	ChangeRecipients(ctx context.Context, tenant amber.TenantID, add, remove []string, rotate bool) ([]string, error)
}

// copier brings every snapshot of a tenant to another target, and back. What is
// there is not sent again. Errors: not_found without a repository; damaged;
// conflict; those of the target.
type copier interface {
	CopyTo(ctx context.Context, tenant amber.TenantID, to amber.Target, plain bool) (amber.CopyReport, error)
	CopyFrom(ctx context.Context, tenant amber.TenantID, from amber.Target) (amber.CopyReport, error)
}

// snapshotView answers from a snapshot as a store would have at that instant.
// Safe for concurrent use.
type snapshotView interface {
	Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error)
	Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error)
	List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error)
	Close() error
}

// counted is a view that knows how much was read so far.
type counted interface{ Stats() viewStats }

// viewStats tells how much of a snapshot an answer needed.
type viewStats struct {
	PagesTotal int64 `json:"pages_total"`
	PagesRead  int64 `json:"pages_read"` // different ones
	BytesRead  int64 `json:"bytes_read"` // from the repository, as they lie there
}

// extraction says what was written of a source.
type extraction struct {
	From    amber.SnapshotID `json:"from"`
	Source  string           `json:"source"`
	To      string           `json:"to"`
	Files   int64            `json:"files"`
	Bytes   int64            `json:"bytes"`
	Fenced  bool             `json:"fenced"`
	Checks  []amber.Check    `json:"checks"`
	Skipped []amber.Skipped  `json:"skipped"` // that were not captured, so they are not there
	DryRun  bool             `json:"dry_run"`
}

// snapshots returns the engine for the home of s. Agent and store need not be
// there.
func (a *app) snapshots(ctx context.Context, s *opened) (snapshotEngine, error) {
	if s.remote != nil {
		return s.remote.snapshots(), nil
	}
	if a.world.snapshots != nil {
		return a.world.snapshots(ctx, s)
	}
	if a.getenv("GOGC") == "" {
		// Snapshots make much garbage of few kinds: a small heap costs a few
		// percent of time and saves a third of the memory.
		debug.SetGCPercent(50)
	}
	c := s.config.Config
	// The engine waits for others as long as is configured for it, writers as
	// long as they always do: so it has a handle of its own.
	h, err := home.At(s.home.Dir(), home.Options{Clock: a.clock, Random: a.random, Wait: c.Snapshot.LockTimeout})
	if err != nil {
		return nil, err
	}
	keys, err := a.keys(c)
	if err != nil {
		return nil, err
	}
	if err := a.openOutbox(ctx, c.Events); err != nil {
		return nil, err
	}
	o := snapshot.Options{
		Home: h, Clock: a.clock, Random: a.random,
		Wait: c.Snapshot.LockTimeout, Grace: c.Snapshot.GC.Grace, Keys: keys,
		Publisher: a.publisher, LifecyclePrefix: c.Events.LifecyclePrefix, Redact: c.Redactor(),
		Sources: map[string]snapshot.Source{}, Progress: a.meter.set,
		BeforeConsolidation: snapshot.Insistence(c.Snapshot.Auto.BeforeConsolidation),
		Warn:                func(text string) { a.out.warn("%s", text) },
	}
	if !c.Snapshot.Enabled {
		o.Disabled = "snapshot.enabled is false"
	}
	for name, f := range c.Sources {
		o.Sources[name] = snapshot.Source{Git: f.Git, SQLite: f.SQLite, Files: f.Files}
	}
	if err := a.locate(s, &o); err != nil {
		return nil, err
	}
	e, err := snapshot.New(o)
	return localEngine{e, c.Memory}, err
}

// locate says where the repositories are: the one that was named, the one that
// is configured, or the home's own.
func (a *app) locate(s *opened, o *snapshot.Options) error {
	var l location
	var err error
	switch root := s.config.Config.Snapshot.Root; {
	case a.access.repository != "":
		_, l, err = repositories{a, s.home}.find(a.access.repository)
	case isBucket(root):
		l, err = a.parseLocation(root)
	default:
		l.folder = root
	}
	if err == nil {
		l.options(a, o)
	}
	return err
}

// localEngine is the engine of this machine.
type localEngine struct {
	*snapshot.Engine
	memory config.Memory
}

func (e localEngine) At(ctx context.Context, ref amber.SnapshotRef) (snapshotView, error) {
	past, err := e.Engine.At(ctx, ref)
	if err != nil {
		return nil, err
	}
	return pastView{past, e.memory}, nil
}

func (e localEngine) ExtractSource(ctx context.Context, ref amber.SnapshotRef, name, dir string) (extraction, error) {
	x, err := e.Engine.ExtractSource(ctx, ref, name, dir)
	return extraction{
		From: x.From, Source: x.Source, To: x.To, Files: x.Files, Bytes: x.Bytes, Fenced: x.Fenced,
		Checks: x.Checks, Skipped: x.Skipped,
	}, err
}

// pastView is the memory of a snapshot, asked as the configuration says.
type pastView struct {
	*snapshot.Past
	memory config.Memory
}

func (v pastView) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	if err := v.memory.CheckRecall(); err != nil {
		return amber.RecallResult{}, err
	}
	if q.Limit == 0 {
		q.Limit = v.memory.Recall.TopK
	}
	return v.Past.Recall(ctx, q)
}

func (v pastView) Stats() viewStats { return viewStats(v.Past.Stats()) }
