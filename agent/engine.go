package agent

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/location"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// Snapshots returns the snapshots of the home, opened when they are first needed.
// Neither the agent nor its store need be there. Errors: invalid; not_found for a
// repository that was never added; unsupported where memory lies on a server.
func (a *Agent) Snapshots(ctx context.Context) (Snapshots, error) {
	if a.config.IsEdge() {
		return nil, amber.Errorf(amber.KindUnsupported, "open snapshots", string(a.ID()), "the memory of this home lies on the server at %s, and so do its snapshots", a.config.Memory.Backends.Remote.URL)
	}
	publisher, err := a.publisher(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.engine != nil {
		return a.engine, nil
	}
	if a.o.Snapshots != nil {
		a.engine, err = a.o.Snapshots(ctx)
	} else {
		a.engine, err = a.openEngine(publisher)
	}
	return a.engine, err
}

func (a *Agent) openEngine(publisher events.Publisher) (Snapshots, error) {
	c := a.config
	// The engine waits for others as long as is configured for it, writers as
	// long as they always do: so it has a handle of its own.
	h, err := home.At(a.o.Home, home.Options{Clock: a.o.Clock, Random: a.o.Random, Wait: c.Snapshot.LockTimeout})
	if err != nil {
		return nil, err
	}
	model, err := NewModel(c.Search, a.o.Home, a.o.Getenv)
	if err != nil {
		return nil, err
	}
	o := snapshot.Options{
		Home: h, Model: model, Clock: a.o.Clock, Random: a.o.Random,
		Wait: c.Snapshot.LockTimeout, Grace: c.Snapshot.GC.Grace, Keys: a.keys(),
		Publisher: publisher, LifecyclePrefix: c.Events.LifecyclePrefix, Redact: c.Redactor(),
		Sources: map[string]snapshot.Source{}, Progress: a.o.Progress,
		BeforeConsolidation: snapshot.Insistence(c.Snapshot.Auto.BeforeConsolidation),
		Warn:                a.o.Warn,
		Version:             a.o.Version,
	}
	if !c.Snapshot.Enabled {
		o.Disabled = "snapshot.enabled is false"
	}
	for name, f := range c.Sources {
		o.Sources[name] = snapshot.Source{Git: f.Git, SQLite: f.SQLite, Files: f.Files}
	}
	if err := a.locate(&o); err != nil {
		return nil, err
	}
	if c.OnPostgres() {
		place, err := a.databasePlace(h)
		if err != nil {
			return nil, err
		}
		a.closers = append(a.closers, place.Close)
		o.Place = place
	}
	e, err := snapshot.New(o)
	if err != nil {
		return nil, err
	}
	return Engine{e, c.Memory}, nil
}

// keys are those of the options and of the configuration.
func (a *Agent) keys() snapshot.Keys {
	c, access := a.config.Snapshot, a.o.Access
	k := snapshot.Keys{
		NoSign: !c.Sign && !access.Sign, RequireSigned: c.RequireSigned,
		Recipients: c.Encryption.Recipients, Passphrase: access.Passphrase,
		Identities: slices.Clone(access.Identities),
	}
	if path := c.Encryption.Identity; path != "" {
		k.Identities = append(k.Identities, path)
	}
	return k
}

// locate says where the repositories are: the one that was named, the one that is
// configured, or the home's own.
func (a *Agent) locate(o *snapshot.Options) error {
	var l location.Location
	var err error
	switch root := a.config.Snapshot.Root; {
	case a.o.Access.Repository != "":
		l, err = a.Repositories().Find(a.o.Access.Repository)
	case location.IsBucket(root):
		l, err = location.Parse(root, a.targetEnv())
	default:
		o.Root = root
		return nil
	}
	if err == nil {
		a.useLocation(l, o)
	}
	return err
}

// useLocation makes an engine work on the repositories of a location.
func (a *Agent) useLocation(l location.Location, o *snapshot.Options) {
	if o.Root = l.Folder(); o.Root != "" {
		return
	}
	var mu sync.Mutex
	opened := map[amber.TenantID]target.Target{} // under mu
	o.Remote = &snapshot.Remote{Name: l.String(), Open: func(ctx context.Context, tenant amber.TenantID) (target.Target, error) {
		mu.Lock()
		defer mu.Unlock()
		if t := opened[tenant]; t != nil {
			return t, nil
		}
		t, err := a.OpenTarget(ctx, l, tenant, true)
		if err == nil {
			opened[tenant] = t
		}
		return t, err
	}}
}

// OpenTarget opens the repository of a tenant at a location. With create a folder is
// made for the tenant, but not the one that all lie in: its disk may not be plugged
// in. Closing the agent closes the target. Errors: not_found; unreachable; refused.
func (a *Agent) OpenTarget(ctx context.Context, l location.Location, tenant amber.TenantID, create bool) (target.Target, error) {
	t, err := l.Open(ctx, tenant, create, a.targetEnv())
	if c, ok := t.(io.Closer); ok && err == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.closers = append(a.closers, c.Close)
	}
	return t, err
}

// Engine makes the snapshots of a home on this machine.
type Engine struct {
	*snapshot.Engine
	memory config.Memory
}

// At implements [Snapshots].
func (e Engine) At(ctx context.Context, ref wire.SnapshotRef) (View, error) {
	past, err := e.Engine.At(ctx, ref)
	if err != nil {
		return nil, err
	}
	return pastView{past, e.memory}, nil
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
