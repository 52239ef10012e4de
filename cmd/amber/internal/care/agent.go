package care

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

func (a *app) agentCommand() *cobra.Command {
	return cli.Family("agent", a.agentListCommand(), a.agentShowCommand(), a.agentDeleteCommand())
}

// agentState says what there is of an agent.
type agentState string

const (
	agentReady    agentState = "ready"
	agentNew      agentState = "new"      // hooks have begun its journal, nothing is stored yet
	agentDeleting agentState = "deleting" // a deletion was interrupted
	agentMoving   agentState = "moving"   // a move has not come to its end
	agentMoved    agentState = "moved"    // it lives elsewhere, and this is what a move has kept
	agentDamaged  agentState = "damaged"  // it cannot be opened
)

// AgentInfo is the JSON of one agent.
type AgentInfo struct {
	Tenant     amber.TenantID `json:"tenant"`
	ID         amber.AgentID  `json:"id"`
	State      agentState     `json:"state"`
	Generation int64          `json:"generation,omitempty"`
	Bytes      *int64         `json:"bytes"` // of its folder; null for one in a database
	Error      string         `json:"error,omitempty"`
}

// describeAgent looks at an agent of the home or of the database; false: there is none.
func (a *app) describeAgent(ctx context.Context, folder *home.Agent) (info AgentInfo, there bool, err error) {
	at, inDatabase, err := a.inDatabase()
	if err != nil || !inDatabase {
		info, there = describeFolder(folder)
		return info, there, err
	}
	all, err := listDatabase(ctx, at, folder.Tenant(), false)
	for _, info := range all {
		if info.ID == folder.ID() {
			return info, true, err
		}
	}
	return AgentInfo{Tenant: folder.Tenant(), ID: folder.ID()}, false, err
}

// inDatabase reports whether agents live in a database.
func (a *app) inDatabase() (at *agent.Agent, in bool, err error) {
	loaded, err := a.LoadConfig()
	if err != nil || !loaded.Config.OnPostgres() {
		return nil, false, nil // a configuration that cannot be read is told by what needs it
	}
	at, err = a.Closed(&loaded.Config)
	return at, true, err
}

// listDatabase lists the agents of a database: of a tenant, or of all. Hooks of this machine may have begun a
// journal for others.
func listDatabase(ctx context.Context, at *agent.Agent, tenant amber.TenantID, all bool) (items []AgentInfo, err error) {
	if all {
		tenant = ""
	}
	list, err := at.InDatabase(ctx, tenant)
	if err != nil {
		return nil, err
	}
	known := map[server.AgentName]bool{}
	for _, l := range list {
		info := AgentInfo{Tenant: l.Tenant, ID: l.ID, State: agentReady, Generation: l.Generation}
		switch {
		case l.Deleting:
			info.State = agentDeleting
		case l.Moving:
			info.State = agentMoving
		case l.Moved:
			info.State = agentMoved
		}
		known[server.AgentName{Tenant: l.Tenant, Agent: l.ID}] = true
		items = append(items, info)
	}
	begun, err := agentsOf(at.Home(), tenant, all)
	for _, info := range begun {
		if info.State == agentNew && !known[server.AgentName{Tenant: info.Tenant, Agent: info.ID}] {
			items = append(items, info)
		}
	}
	slices.SortStableFunc(items, func(x, y AgentInfo) int {
		return cmp.Or(cmp.Compare(x.Tenant, y.Tenant), cmp.Compare(x.ID, y.ID))
	})
	return items, err
}

// describeFolder looks at the folder of an agent; false: there is none.
func describeFolder(agent *home.Agent) (AgentInfo, bool) {
	info := AgentInfo{Tenant: agent.Tenant(), ID: agent.ID(), State: agentReady}
	c, err := agent.Current()
	exists, _ := agent.Exists()
	switch {
	case agent.Deleting():
		info.State = agentDeleting
	case !exists:
		return info, false
	case amber.KindOf(err) == amber.KindNotFound:
		info.State = agentNew
	case err != nil:
		info.State, info.Error = agentDamaged, err.Error()
	default:
		if m, err := agent.Moved(); err != nil {
			info.State, info.Error = agentDamaged, err.Error()
		} else if m != nil && m.State == home.MoveLeft {
			info.State = agentMoved
		} else if m != nil {
			info.State = agentMoving
		}
	}
	size := folderSize(agent.Dir())
	info.Generation, info.Bytes = c.Generation, &size
	return info, true
}

// folderSize adds up the files below a folder; what goes meanwhile counts nothing.
func folderSize(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}

func (a *app) agentListCommand() *cobra.Command {
	var jsonl, all bool
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		if a.Remote != nil {
			return a.listServedAgents(cmd, jsonl, all)
		}
		h, tenant, err := a.LookAtTenant()
		if err != nil {
			return err
		}
		items, err := a.listAgents(cmd.Context(), h, tenant, all)
		if err != nil {
			return err
		}
		if len(items) == 0 && cmd.Flags().Changed("tenant") && !all {
			return a.NoAgent(cmd.Context(), tenant, amber.AgentID(a.Global.Agent))
		}
		return cli.ShowItems(a.App, jsonl, amber.Page[AgentInfo]{Items: items}, printAgents)
	})
	cmd.Flags().BoolVar(&all, "all", false, "those of every tenant")
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

// servedAgent is the JSON of one agent of a server.
type servedAgent struct {
	Tenant amber.TenantID `json:"tenant"`
	ID     amber.AgentID  `json:"id"`
}

// listServedAgents lists the agents of the server that the token reaches.
func (a *app) listServedAgents(cmd *cobra.Command, jsonl, all bool) error {
	tenant, err := amber.ParseTenantID(a.Global.Tenant)
	if err != nil {
		return err
	}
	if all {
		tenant = ""
	}
	names, err := a.Remote.Home().ListAgents(cmd.Context(), tenant)
	if err != nil {
		return err
	}
	items := make([]servedAgent, len(names))
	for i, n := range names {
		items[i] = servedAgent{n.Tenant, n.Agent}
	}
	return cli.ShowItems(a.App, jsonl, amber.Page[servedAgent]{Items: items}, func(w io.Writer, items []servedAgent) {
		cli.TableOf(w, []string{"AGENT", "TENANT"}, items, func(s servedAgent) []string { return []string{string(s.ID), string(s.Tenant)} })
	})
}

// listAgents describes the agents of a tenant, or of all: of the home or of the database.
func (a *app) listAgents(ctx context.Context, h *home.Home, tenant amber.TenantID, all bool) ([]AgentInfo, error) {
	at, in, err := a.inDatabase()
	if err != nil {
		return nil, err
	}
	if in {
		return listDatabase(ctx, at, tenant, all)
	}
	return agentsOf(h, tenant, all)
}

// agentsOf describes the folders of the agents of a tenant, or of all.
func agentsOf(h *home.Home, tenant amber.TenantID, all bool) (items []AgentInfo, err error) {
	tenants := []amber.TenantID{tenant}
	if all {
		if tenants, err = h.Tenants(); err != nil {
			return nil, err
		}
	}
	for _, t := range tenants {
		ids, err := h.Agents(t)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			agent, err := h.Agent(t, id)
			if err != nil {
				return nil, err
			}
			if info, there := describeFolder(agent); there {
				items = append(items, info)
			}
		}
	}
	return items, nil
}

func printAgents(w io.Writer, items []AgentInfo) {
	cli.TableOf(w, []string{"AGENT", "TENANT", "STATE", "SIZE", ""}, items, func(info AgentInfo) []string {
		return []string{string(info.ID), string(info.Tenant), string(info.State), sizeOf(info), info.Error}
	})
}

// sizeOf is the size of a folder; the rows of a database are not counted for it.
func sizeOf(info AgentInfo) string {
	if info.Bytes == nil {
		return "-"
	}
	return cli.ByteSize(*info.Bytes)
}

// ShownAgent is the JSON of agent show.
type ShownAgent struct {
	AgentInfo
	Dir          string             `json:"dir"`      // "" for an agent in a database
	Memories     *int64             `json:"memories"` // null where the store cannot be read
	Sessions     *int64             `json:"sessions"`
	Snapshots    int                `json:"snapshots"`
	LastSnapshot *wire.SnapshotMeta `json:"last_snapshot"`
	Bundles      int                `json:"bundles"` // in the folder of bundles
}

func (a *app) agentShowCommand() *cobra.Command {
	return cli.Verb("show", func(cmd *cobra.Command, args []string) error {
		return a.withAgent(cmd, "show agent", args, func(ctx context.Context, h *home.Home, agent *home.Agent) error {
			return cli.Answer(a.showAgent(cmd, h, agent))(a.Out, a.printAgent)
		})
	})
}

// withAgent finds the agent of an argument, or that of --agent.
func (a *app) withAgent(cmd *cobra.Command, op string, args []string, fn func(ctx context.Context, h *home.Home, agent *home.Agent) error) error {
	if err := a.OnThisMachine(op); err != nil {
		return err
	}
	if len(args) == 1 {
		if cmd.Flags().Changed("agent") && args[0] != a.Global.Agent {
			return cli.Usage("the agent is %q and --agent %q, want one of them", cli.OneLine(args[0], 40), cli.OneLine(a.Global.Agent, 40))
		}
		a.Global.Agent = args[0]
	}
	id, err := amber.ParseAgentID(a.Global.Agent)
	if err != nil {
		return err
	}
	h, tenant, err := a.LookAtTenant()
	if err != nil {
		return err
	}
	agent, err := h.Agent(tenant, id)
	if err != nil {
		return err
	}
	return fn(cmd.Context(), h, agent)
}

// showAgent collects what is known about an agent.
func (a *app) showAgent(cmd *cobra.Command, h *home.Home, agent *home.Agent) (out ShownAgent, err error) {
	var there bool
	if out.AgentInfo, there, err = a.describeAgent(cmd.Context(), agent); err != nil {
		return out, err
	}
	out.Dir = agent.Dir()
	if out.Snapshots, out.LastSnapshot, err = a.countSnapshots(cmd, agent); err != nil {
		return out, err
	}
	out.Bundles = len(bundlesOf(h, agent))
	if !there {
		if out.Snapshots == 0 {
			return out, a.NoAgent(cmd.Context(), agent.Tenant(), agent.ID())
		}
		out.State = "deleted"
	}
	if out.State == agentReady {
		if stats := a.statsOf(cmd.Context()); stats != nil {
			out.Memories, out.Sessions = &stats.Memories, &stats.Sessions
			if out.Bytes == nil { // it has no folder of its own
				out.Dir, out.Bytes = "", &stats.Bytes
			}
		}
	}
	return out, nil
}

// statsOf counts what the store holds; nil where it cannot be read.
func (a *app) statsOf(ctx context.Context) *amber.Stats {
	loaded, err := a.LoadConfig()
	if err != nil {
		return nil
	}
	s, err := a.Look(ctx, loaded)
	if err != nil {
		return nil
	}
	defer s.Close()
	stats, err := s.Store.Stats.Stats(ctx)
	if err != nil {
		return nil
	}
	return &stats
}

// countSnapshots returns how many snapshots there are of an agent, and the last.
func (a *app) countSnapshots(cmd *cobra.Command, agent *home.Agent) (n int, last *wire.SnapshotMeta, err error) {
	err = a.WithSnapshots(cmd, cli.MayBeAbsent, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
		return cli.EachSnapshot(ctx, s, e, func(m wire.SnapshotMeta) error {
			if n++; last == nil {
				m.Skipped = cli.OrEmpty(m.Skipped)
				last = &m
			}
			return nil
		})
	})
	return n, last, err
}

// bundlesOf returns the bundles in the folder for those of an agent.
func bundlesOf(h *home.Home, agent *home.Agent) (files []string) {
	entries, _ := os.ReadDir(h.SnapshotsDir(agent.Tenant(), agent.ID()))
	for _, e := range entries {
		if cli.IsBundleName(e.Name()) {
			files = append(files, e.Name())
		}
	}
	return files
}

func (a *app) printAgent(w io.Writer, s ShownAgent) {
	p := a.Out
	fmt.Fprintln(w, p.Style(cli.Bold, string(s.ID)))
	p.Fact(w, "tenant", string(s.Tenant))
	p.Fact(w, "state", string(s.State))
	p.Fact(w, "error", s.Error)
	if s.State == "deleted" {
		s.Dir = ""
	}
	p.Fact(w, "folder", s.Dir)
	if s.Generation > 0 {
		p.Fact(w, "generation", fmt.Sprint(s.Generation))
		p.Fact(w, "size", sizeOf(s.AgentInfo))
	}
	if s.Memories != nil && s.Sessions != nil {
		p.Fact(w, "memories", fmt.Sprint(*s.Memories))
		p.Fact(w, "sessions", fmt.Sprint(*s.Sessions))
	}
	p.Fact(w, "snapshots", fmt.Sprint(s.Snapshots))
	if s.LastSnapshot != nil {
		p.Fact(w, "last snapshot", cli.ShortID(string(s.LastSnapshot.ID))+", "+p.When(s.LastSnapshot.CreatedAt))
	}
	if s.Bundles > 0 {
		p.Fact(w, "bundles", fmt.Sprint(s.Bundles))
	}
}
