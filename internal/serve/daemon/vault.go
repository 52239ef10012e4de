package daemon

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/vaultapi"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// newVaults makes what serves the vaults of agents.
func (s *Daemon) newVaults(keeper *doorkeeper) (*vaultapi.Handler, error) {
	agents := &vaultAgents{home: s.o.Home}
	s.warnOfLargeFiles()
	var key []byte
	if s.o.Replica != nil {
		key = s.o.Replica.VaultKey
	}
	return vaultapi.New(vaultapi.Options{
		Key:  key,
		Desk: s.desk, Grant: keeper.vaultKey, Clock: s.o.Clock, Random: s.o.Random, Log: s.o.Log,
		Vault: func(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (vaultapi.Store, error) {
			return s.openVaultOf(ctx, agents, tenant, agent)
		},
		First: func(tenant amber.TenantID, name, content string) error {
			return s.vaultLimits(tenant).First(name, content)
		},
		Failed: keeper.failed, Rates: s.vaultRates, Room: s.vaultRoom, Answers: s.o.Ledger,
	})
}

// vaultKey returns what an API key of a vault is for. Until there is a token,
// any key of this machine means the default agent.
func (d *doorkeeper) vaultKey(ctx context.Context, secret string) (wire.Grant, error) {
	open, err := d.open(ctx)
	switch {
	case err != nil:
		return wire.Grant{}, err
	case open:
		return wire.Grant{Tenant: amber.DefaultTenant, Agent: amber.DefaultAgent, Scopes: []wire.TokenScope{wire.TokenRead, wire.TokenWrite}}, nil
	}
	return d.tokens.Authenticate(ctx, secret)
}

// openVaultOf opens the vault of an agent. Errors: not_found when there is no
// such agent; refused when its tenant has no vaults.
func (s *Daemon) openVaultOf(ctx context.Context, agents *vaultAgents, tenant amber.TenantID, id amber.AgentID) (vaultapi.Store, error) {
	if !s.current().VaultOf(string(tenant)).Enabled {
		return nil, amber.Errorf(amber.KindRefused, "open vault", "", "vaults are switched off (server.vault.enabled)")
	}
	o := shelf.Options{Clock: s.o.Clock, Limits: s.vaultLimits(tenant)}
	if s.parts.Vault != nil {
		rows, there, err := s.parts.Vault(ctx, tenant, id)
		if err == nil && !there {
			err = amber.Errorf(amber.KindNotFound, "open vault", string(id), "the agent does not exist")
		}
		if err != nil {
			return nil, err
		}
		return shelf.OpenRows(rows, o)
	}
	agent, err := agents.agent(tenant, id)
	if err != nil {
		return nil, err
	}
	if _, err := agent.Current(); err != nil {
		return nil, err
	}
	return shelf.Open(agent, o)
}

// vaultLimits are the bounds of the vaults of a tenant.
func (s *Daemon) vaultLimits(tenant amber.TenantID) shelf.Limits {
	c := s.current().VaultOf(string(tenant))
	l := shelf.Limits{Quota: int64(c.Quota), MaxFile: min(int64(c.MaxFile), shelf.MaxFileLimit), MaxFiles: int64(c.MaxFiles)}
	if len(c.Extensions) > 0 {
		l.Extensions = c.Extensions
	}
	return l
}

// besideContent is about how much of a request that puts a file is not the file.
const besideContent = 64

// warnOfLargeFiles warns of bounds on files that are larger than a request may be: no request can
// reach them.
func (s *Daemon) warnOfLargeFiles() {
	c := s.current()
	names := append(slices.Sorted(maps.Keys(c.Server.Vault.Tenants)), "") // "": all others
	for _, tenant := range names {
		v := c.VaultOf(tenant)
		if !v.Enabled || int64(v.MaxFile)+besideContent <= int64(c.Server.MaxBody) {
			continue
		}
		key := "server.vault.max_file"
		if tenant != "" {
			key = "server.vault.tenants." + tenant + ".max_file"
		}
		s.o.Log.Warn("files that are as large as they may be do not fit into a request", "setting", key, "max_file", int64(v.MaxFile), "server.max_body", int64(c.Server.MaxBody))
	}
}

// vaultRoom is the quota that a vault tells before anybody has written to it.
func (s *Daemon) vaultRoom(tenant amber.TenantID) int64 {
	if c := s.current().VaultOf(string(tenant)); c.Provisioned {
		return int64(c.Quota)
	}
	return 0
}

// vaultRates are how much an agent of a tenant may ask for.
func (s *Daemon) vaultRates(tenant amber.TenantID) vaultapi.Rates {
	c := s.current().VaultOf(string(tenant))
	return vaultapi.Rates{
		RequestsPerMinute: c.RequestsPerMinute, OperationsPerHour: c.OperationsPerHour,
		SearchesPerHour: c.SearchesPerHour, ExportsPerHour: c.ExportsPerHour,
		MaxChars: max(vaultapi.DefaultMaxChars, int(c.MaxFile)),
	}
}

// vaultAgents keeps one handle for each agent: those who wait for one handle are
// let in by turns.
type vaultAgents struct {
	home *home.Home
	mu   sync.Mutex
	held map[amber.TenantID]map[amber.AgentID]*home.Agent
}

func (v *vaultAgents) agent(tenant amber.TenantID, id amber.AgentID) (*home.Agent, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if a, ok := v.held[tenant][id]; ok {
		return a, nil
	}
	a, err := v.home.Agent(tenant, id)
	if err != nil {
		return nil, err
	}
	if v.held == nil {
		v.held = map[amber.TenantID]map[amber.AgentID]*home.Agent{}
	}
	if v.held[tenant] == nil {
		v.held[tenant] = map[amber.AgentID]*home.Agent{}
	}
	v.held[tenant][id] = a
	return a, nil
}
