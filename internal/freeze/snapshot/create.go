package snapshot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// Snapshot implements [wire.SnapshotTaker].
func (e *Engine) Snapshot(ctx context.Context, r wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	r, err := r.Normalize()
	if err == nil {
		err = intake.CheckNames("label", r.Label)
	}
	if err != nil {
		return wire.SnapshotMeta{}, err
	}
	return e.takeChecked(ctx, r)
}

// takeChecked takes a snapshot by a request that was checked.
func (e *Engine) takeChecked(ctx context.Context, r wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	if e.o.Disabled != "" {
		return wire.SnapshotMeta{}, amber.Errorf(amber.KindRefused, "take snapshot", string(r.Agent), "%s", e.o.Disabled)
	}
	agent, err := e.existing(ctx, r.Tenant, r.Agent)
	if err != nil {
		return wire.SnapshotMeta{}, err
	}
	if err := e.checkSources(r.Sources); err != nil {
		return wire.SnapshotMeta{}, err
	}
	var meta wire.SnapshotMeta
	err = e.operate(ctx, agent, func(ctx context.Context, o operation) error {
		rep, err := e.open(ctx, r.Tenant, fsx.Shared, creating)
		if err != nil {
			return err
		}
		defer rep.close()
		state, err := e.refresh(ctx, agent)
		if err != nil {
			return err
		}
		meta, err = e.take(ctx, o, agent, rep, r, under{fence: agent.Exclusive, state: state})
		return err
	})
	if err == nil {
		e.created(ctx, meta)
	}
	return meta, fail("take snapshot", string(r.Agent), err)
}

// existing returns an agent that is there: nothing is ever captured of one
// that is not.
func (e *Engine) existing(ctx context.Context, tenant amber.TenantID, id amber.AgentID) (*home.Agent, error) {
	agent, err := e.place.Folder(tenant, id)
	if err != nil {
		return nil, err
	}
	_, err = e.place.Current(ctx, agent)
	return agent, err
}

// take captures an agent and publishes the snapshot. The caller is inside
// Operate.
func (e *Engine) take(ctx context.Context, o operation, agent *home.Agent, rep *repository, r wire.SnapshotRequest, u under) (wire.SnapshotMeta, error) {
	c, err := e.capture(ctx, agent, rep, r, u, nil)
	if err != nil {
		return wire.SnapshotMeta{}, err
	}
	defer c.close()
	if len(c.inner.Databases) == 0 {
		return wire.SnapshotMeta{}, amber.Errorf(amber.KindDamaged, "take snapshot", string(agent.ID()), "no database of the agent can be read: %s", strings.Join(c.warn, "; "))
	}
	return c.publish(ctx, o.Permit)
}

// capture freezes an agent and stores what the repository does not have. The
// last capture of the same agent, where there was one, makes it quicker. The
// caller closes it.
func (e *Engine) capture(ctx context.Context, agent *home.Agent, rep *repository, r wire.SnapshotRequest, u under, last *capture) (*capture, error) {
	c := &capture{e: e, agent: agent, rep: rep, request: r, began: e.o.Clock(), bases: map[string]*repo.Base{}}
	err := rep.readyToSign(ctx)
	if err != nil {
		return nil, err
	}
	if c.warn, err = rep.encrypt(ctx, r.Encrypt); err != nil {
		return nil, err
	}
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	if last != nil {
		c.parent, c.bases, c.before = last.inner, last.bases, last.i
	} else {
		c.findParent(ctx)
	}
	err = c.run(ctx, u)
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// capture is one snapshot on its way into the repository.
type capture struct {
	e       *Engine
	agent   *home.Agent
	rep     *repository
	w       *repo.Writer
	i       *instant
	request wire.SnapshotRequest

	began time.Time

	before   *instant              // an earlier one of this operation; nil when there is none
	parent   repo.Inner            // what the last snapshot holds; zero when there is none
	bases    map[string]*repo.Base // of the databases; at first of the parent's
	inner    repo.Inner
	id       repo.ID          // of the inner manifest
	sessions []repo.TreeEntry // captured entries of the journal, in the folder of inner.Journal
	stored   int64            // bytes in packs
	total    int64
	warn     []string
	seen     repo.Seen // of its chain
}

// begin opens the writer, which avoids what gc is about to delete.
func (c *capture) begin(ctx context.Context) error {
	condemned, err := c.rep.Condemned(ctx)
	if err != nil {
		return err
	}
	c.w = c.rep.NewWriter(ctx)
	c.w.Avoid(condemned)
	return nil
}

// close ends the writer. Packs that were flushed stay.
func (c *capture) close() { _ = c.w.Close() }

// run freezes, stores, and reads back what was stored. Files come before databases:
// those that were copied to memory inside the fence stay there only until then.
func (c *capture) run(ctx context.Context, u under) (err error) {
	c.i, err = c.e.freeze(ctx, c.agent, c.rep, c.w, u, c.before)
	if err != nil {
		return err
	}
	c.told(u.state)
	for _, step := range []func(context.Context) error{c.journal, c.files, c.databases, c.git, c.sources, c.flush} {
		if err = step(ctx); err != nil {
			break
		}
	}
	return errors.Join(err, c.i.close())
}

// findParent loads the inner manifest of the last snapshot of this agent. If that cannot be read,
// this snapshot only becomes larger.
func (c *capture) findParent(ctx context.Context) {
	if inner, ok := c.own(ctx); ok {
		c.parent = inner
		return
	}
	entries, err := c.rep.catalog.List(ctx, c.agent.ID())
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !c.shares(entry.Manifest) || !c.owns(entry) {
			continue
		}
		if inner, err := c.rep.inner(ctx, entry.Manifest); err == nil {
			c.parent = inner
			return
		}
	}
}

// databases stores every page that the last snapshot does not have.
func (c *capture) databases(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(c.i.lost)) {
		c.warn = append(c.warn, fmt.Sprintf("%s cannot be opened and was NOT captured: %v", name, c.i.lost[name]))
		c.inner.Skipped = append(c.inner.Skipped, wire.Skipped{Part: partOf(name), Path: name, Reason: wire.SkipUnreadable, Detail: c.i.lost[name].Error()})
	}
	for _, d := range c.i.databases {
		info := d.Info()
		base := c.bases[info.Name]
		if last := findDatabase(c.parent.Databases, info.Name); base == nil && last != nil {
			base = c.e.book.loadBase(c.agent, info.Name, last.Ref)
		}
		entry, digests, err := c.database(ctx, d, base)
		if err != nil {
			return fail("capture database", info.Name, err)
		}
		c.inner.Databases = append(c.inner.Databases, entry)
		c.bases[info.Name] = &repo.Base{Ref: entry.Ref, Digests: digests}
		if err := d.Close(); err != nil {
			return fail("capture database", info.Name, err)
		}
	}
	return nil
}

// database stores one frozen database.
func (c *capture) database(ctx context.Context, d wire.FrozenDatabase, base *repo.Base) (repo.DatabaseEntry, []repo.PageDigest, error) {
	info := d.Info()
	entry := repo.DatabaseEntry{Name: info.Name, ApplicationID: info.ApplicationID, Schema: info.Schema, Damage: info.Damage}
	dw, err := c.w.NewDatabase(ctx, info.PageSize, base)
	if err != nil {
		return entry, nil, err
	}
	defer dw.Abort()
	total := info.Pages * int64(info.PageSize)
	var done int64
	err = d.ReadPages(ctx, func(pages []byte) error {
		done += int64(len(pages))
		c.e.progress(ctx, "capture "+info.Name, done, total)
		return dw.Write(pages)
	})
	if err != nil {
		return entry, nil, err
	}
	ref, digests, err := dw.Finish(ctx)
	if err != nil {
		return entry, nil, err
	}
	if ref.Pages != info.Pages {
		return entry, nil, amber.Errorf(amber.KindInternal, "capture database", info.Name, "%d pages were read, want %d", ref.Pages, info.Pages)
	}
	entry.Ref = ref
	c.total += total
	info = d.Info() // reading may have found more
	if entry.Damage = info.Damage; info.Damage != "" {
		c.warn = append(c.warn, info.Name+" is damaged at the source and was captured as it is: "+info.Damage)
		c.inner.Checks = append(c.inner.Checks, wire.Check{Name: "source", Part: info.Name, Digest: ref.Digest.String(), At: c.i.at, Detail: info.Damage})
	}
	return entry, digests, nil
}

func findDatabase(list []repo.DatabaseEntry, name string) *repo.DatabaseEntry {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}
