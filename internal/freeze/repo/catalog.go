package repo

import (
	"cmp"
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/wire/sign"
)

// Catalog is the snapshots of a tenant's repository: their manifests, the
// stubs of those that were deleted, and the pins of those that must not be.
// Safe for concurrent use; other programs may write to the same target.
type Catalog struct {
	repo   *Repo
	tenant amber.TenantID
	trusts func(sign.KeyID) bool // nil: everybody
}

// Catalog returns the catalog of the repository, which belongs to one tenant.
func (r *Repo) Catalog(tenant amber.TenantID) *Catalog { return &Catalog{repo: r, tenant: tenant} }

// Trusting returns the same catalog, but [Catalog.TipSince] and
// [Catalog.SignedBefore] only look at links that trusted keys have signed. Lists,
// checks and deletions do not depend on trust. Trusts is called in the goroutine
// of the caller.
func (c *Catalog) Trusting(trusts func(sign.KeyID) bool) *Catalog {
	return &Catalog{repo: c.repo, tenant: c.tenant, trusts: trusts}
}

// Entry is a snapshot in a catalog.
type Entry struct {
	Manifest Manifest
	Digest   string // of the manifest's body
	Pinned   bool
	// Signature is the result of checking the manifest's signature. A snapshot whose signature is bad or was taken away
	// stays in the list; nothing may be restored from it: see [Entry.Usable].
	Signature SignatureState
	// Problem says why the snapshot cannot be used for this agent. With kind
	// damaged or too_new the manifest cannot be read, and only ID, Tenant and
	// Agent are set, from its name. With kind cross_tenant the manifest is whole
	// and belongs to another agent or tenant.
	Problem error
}

// Usable returns why nothing may be taken from a snapshot: its Problem, or an
// error of kind untrusted when its signature is bad or was taken away. Whether
// it is signed at all, and by whom, is up to the caller.
func (e Entry) Usable() error {
	if e.Problem == nil && e.Signature.Untrusted() {
		return &amber.Error{
			Op: "check signature", Kind: amber.KindUntrusted, ID: recordName(manifestPrefix, e.Manifest.Agent, e.Manifest.ID), Err: e.Signature.problem(),
		}
	}
	return e.Problem
}

// List returns the snapshots of an agent, the newest first. One whose manifest
// cannot be read is among them. Errors: invalid; those of the target.
func (c *Catalog) List(ctx context.Context, agent amber.AgentID) ([]Entry, error) {
	s, err := c.shelf(ctx, agent, false)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(s.manifests))
	for id, e := range s.manifests {
		if !s.deleted(id) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		return -cmp.Or(cmp.Compare(a.Manifest.CreatedAt.UnixMilli(), b.Manifest.CreatedAt.UnixMilli()),
			cmp.Compare(a.Manifest.ID, b.Manifest.ID))
	})
	return entries, nil
}

// Get returns one snapshot. Errors: invalid; not_found, also for one that was
// deleted; damaged and too_new for a manifest that cannot be read; those of the
// target.
func (c *Catalog) Get(ctx context.Context, agent amber.AgentID, id amber.SnapshotID) (Entry, error) {
	if err := checkPlace(agent, id); err != nil {
		return Entry{}, err
	}
	e, err := c.readManifest(ctx, agent, id)
	if err != nil {
		return Entry{}, err
	}
	stub, err := c.readStub(ctx, agent, id)
	switch {
	case err != nil && !isProblem(err):
		return Entry{}, err
	case err == nil && stub.deletes(e):
		return Entry{}, errNoSnapshot(id, "snapshot was deleted")
	}
	pins, err := c.ids(ctx, pinPrefix, agent)
	if err != nil {
		return Entry{}, err
	}
	e.Pinned = slices.Contains(pins, id)
	return e, e.Problem
}

func errNoSnapshot(id amber.SnapshotID, why string) error {
	return amber.Errorf(amber.KindNotFound, "find snapshot", string(id), "%s", why).WithHint("amber snapshot list")
}

// Agents returns the agents that have snapshots, or had some, in the order of
// their names. Errors: those of the target.
func (c *Catalog) Agents(ctx context.Context) ([]amber.AgentID, error) {
	var agents []amber.AgentID
	for _, prefix := range []string{manifestPrefix, stubPrefix} {
		err := c.repo.target.List(ctx, prefix, func(o target.Object) error {
			if agent, _, ok := placeOf(prefix, o.Name); ok {
				agents = append(agents, agent)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(agents)
	return slices.Compact(agents), nil
}

// Publish writes the manifest of a snapshot: with that the snapshot exists.
// Everything it needs is durable already. It is signed if it names a signer,
// which then is that of the repository. Publishing the same manifest again is no
// error. Errors: invalid, also for another signer; cross_tenant; conflict when
// there is, or was, another snapshot of that id, when it is not sealed with the
// key of the repository, and when there is another key record by now than when
// the repository was opened; that of the signer; those of the permit and of
// the target.
func (c *Catalog) Publish(ctx context.Context, p permit.Permit, m Manifest) (digest string, err error) {
	const op = "publish snapshot"
	m = m.finished()
	object, digest, err := sealWith(ctx, op, string(m.ID), &m, c.repo.signer)
	if err != nil {
		return "", err
	}
	if m.Tenant != c.tenant {
		return "", amber.Errorf(amber.KindCrossTenant, op, string(m.ID), "the repository belongs to another tenant")
	}
	if err := c.repo.mayPublish(ctx, op, &m); err != nil {
		return "", err
	}
	conflict := func(why string) error { return amber.Errorf(amber.KindConflict, op, string(m.ID), "%s", why) }
	switch _, err := c.readStub(ctx, m.Agent, m.ID); {
	case err == nil || amber.KindOf(err) != amber.KindNotFound && isProblem(err):
		return "", conflict("a snapshot of that id was deleted")
	case !isProblem(err):
		return "", err
	}
	if err := p.Ask(ctx); err != nil {
		return "", err
	}
	name := recordName(manifestPrefix, m.Agent, m.ID)
	err = putRecord(ctx, c.repo.target, name, object, func() (bool, error) {
		there, err := readSmall(ctx, c.repo.target, name)
		if amber.KindOf(err) == amber.KindDamaged || err == nil && string(there) != string(object) {
			err = conflict("there is another snapshot of that id")
		}
		return err == nil, err
	})
	return digest, err
}
