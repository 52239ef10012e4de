package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/store/home"
)

// InDatabase lists the agents of a tenant in its database, of every tenant in all databases for "", and those
// whose deletion was interrupted. Errors: those of [Agent.Database].
func (a *Agent) InDatabase(ctx context.Context, tenant amber.TenantID) (list []postgres.Listed, err error) {
	if tenant != "" {
		return a.listedIn(ctx, tenant, tenant)
	}
	if list, err = a.listedIn(ctx, "", ""); err != nil {
		return nil, err
	}
	own := a.config.OwnDatabases()
	list = slices.DeleteFunc(list, func(l postgres.Listed) bool { return slices.Contains(own, string(l.Tenant)) }) // read below instead
	for _, t := range own {
		more, err := a.listedIn(ctx, amber.TenantID(t), amber.TenantID(t))
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	slices.SortFunc(list, func(x, y postgres.Listed) int {
		return cmp.Or(cmp.Compare(x.Tenant, y.Tenant), cmp.Compare(x.ID, y.ID))
	})
	return list, nil
}

// listedIn lists agents of a tenant, all for "", in the database of a tenant.
func (a *Agent) listedIn(ctx context.Context, database, tenant amber.TenantID) ([]postgres.Listed, error) {
	server, done, err := a.DatabaseOf(ctx, database)
	if err != nil {
		return nil, err
	}
	list, err := server.List(ctx, tenant)
	return list, errors.Join(err, done())
}

// AgentsThere returns the agents of a tenant: of the database where agents live in one, otherwise those that
// have a folder in the home. Errors: those of [Agent.Database] and of the disk.
func (a *Agent) AgentsThere(ctx context.Context, tenant amber.TenantID) (ids []amber.AgentID, err error) {
	if !a.config.OnPostgres() {
		return foldersOf(a.home, tenant)
	}
	list, err := a.InDatabase(ctx, tenant)
	for _, l := range list {
		if l.Usable() {
			ids = append(ids, l.ID)
		}
	}
	return ids, err
}

// foldersOf returns the agents of a tenant that have a folder.
func foldersOf(h *home.Home, tenant amber.TenantID) ([]amber.AgentID, error) {
	ids, err := h.Agents(tenant)
	return slices.DeleteFunc(ids, func(id amber.AgentID) bool {
		folder, err := h.Agent(tenant, id)
		if err != nil {
			return true
		}
		exists, _ := folder.Exists()
		return !exists
	}), err
}

// TenantsThere returns the tenants, as [Agent.AgentsThere] does agents. One of the home may have none.
func (a *Agent) TenantsThere(ctx context.Context) (ids []amber.TenantID, err error) {
	if !a.config.OnPostgres() {
		return a.home.Tenants()
	}
	list, err := a.InDatabase(ctx, "")
	for _, l := range list { // sorted by tenant
		if l.Usable() && !slices.Contains(ids, l.Tenant) {
			ids = append(ids, l.Tenant)
		}
	}
	return ids, err
}
