package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/care"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// mcpFlags say what agents are offered.
type mcpFlags struct {
	tools, project, user, workspace string
	allowRestore                    bool
}

func (a *app) mcpCommand() *cobra.Command {
	var f mcpFlags
	cmd := cli.Verb("mcp", func(cmd *cobra.Command, _ []string) error {
		if err := boundFlags(cmd, "user", "workspace"); err != nil { // without a project it is that of the folder
			return err
		}
		return a.serveMCP(cmd.Context(), f)
	})
	fl := cmd.Flags()
	fl.StringVar(&f.tools, "tools", "default", "default, all, profiles or names of tools")
	fl.BoolVar(&f.allowRestore, "allow-restore", false, "with the profile snapshots, offer to restore them")
	fl.StringVar(&f.project, "project", "", "bind the host to a project (default: the project of the working directory, and any other that a call names)")
	fl.StringVar(&f.user, "user", "", "bind the host to a user, whose memories are saved and seen")
	fl.StringVar(&f.workspace, "workspace", "", "bind the host to a workspace")
	return cmd
}

// bound is what the flags bind the host to. Without --project the project of the working directory binds
// nothing: it is only where a call belongs that names no project.
func (f mcpFlags) bound() wire.Bound {
	return wire.Bound{User: f.user, Project: f.project, Workspace: f.workspace}
}

// mcpGrace is how long the store may take to close when the host has gone.
const mcpGrace = 10 * time.Second

// serveMCP serves one host as the local user. The store is opened by the first
// call that needs it: hosts start this at the beginning of every session.
func (a *app) serveMCP(ctx context.Context, f mcpFlags) (err error) {
	tenant, err := amber.ParseTenantID(a.Global.Tenant)
	if err != nil {
		return err
	}
	agent, err := amber.ParseAgentID(a.Global.Agent)
	if err != nil {
		return err
	}
	h := &hosted{app: a, changed: make(chan struct{}, 1)}
	pool := server.NewPool(h.openAgent, server.PoolOptions{Clock: a.Clock})
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mcpGrace)
		defer cancel()
		err = errors.Join(err, pool.Close(ctx))
	}()
	if err := f.bound().Check(); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	ids, folder := a.mcpFolder(ctx, f)
	s, err := mcpapi.NewServer(mcpapi.Options{
		Desk: &server.Desk{
			Agents: pool, BeforeTool: h.beforeTool, Changed: func(server.AgentName) { h.change() }, Log: log, Redact: a.WriteRulesOnce(),
		},
		Version: a.Version, Tools: f.tools, AllowRestore: f.allowRestore,
		Identities: ids, Folder: folder, Clock: a.Clock, Log: log,
	}, op.Caller{Grant: wire.Grant{Scopes: []wire.TokenScope{wire.TokenAdmin}, Bound: f.bound()}}, tenant, agent)
	if err != nil {
		return err
	}
	err = s.Run(ctx, mcpapi.Stdio(a.Stdin, a.Stdout))
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		return nil // told to stop, or the host has gone
	}
	return err
}

// mcpFolder returns what calls are about that name nothing. A folder that waits for its user is asked again at every call, so the host
// learns of the confirmation; every other folder keeps its project.
func (a *app) mcpFolder(ctx context.Context, f mcpFlags) (ids amber.Identities, folder func() (string, bool)) {
	ids = amber.Identities{ProjectID: f.project, UserID: f.user, WorkspaceID: f.workspace}
	dir, err := a.Directory()
	if f.project != "" || err != nil {
		return ids, nil
	}
	has := a.Project(ctx, dir)
	if has.Asks == "" {
		ids.ProjectID = has.ID
		return ids, nil
	}
	return ids, func() (string, bool) {
		now := a.Project(ctx, dir)
		return now.ID, now.Asks != ""
	}
}

// hosted is the agent of the flags, served to one host.
type hosted struct {
	*app
	changed chan struct{} // has one when the host may have changed something

	mu    sync.Mutex
	guard snapshot.ToolGuard // of the agent that was opened last
}

// openAgent opens the agent for the pool. Without one it is what concerns the
// tenant: its snapshots.
func (h *hosted) openAgent(ctx context.Context, tenant amber.TenantID, id amber.AgentID, _ bool) (*op.Agent, func() error, error) {
	if id == "" {
		return h.openSnapshots(ctx, tenant)
	}
	s, err := h.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	at := s.Local
	if s.Spool != nil {
		at = s.Spool
	}
	served := &op.Agent{
		Tenant: tenant, ID: id, Store: at.Served(), Policy: s.Policy, Random: h.Random, Join: joinAsAgent(at),
		Doctor: func(ctx context.Context, deep bool) (wire.Checkup, error) { return care.Examine(ctx, h.App, deep), nil },
	}
	// Memory is served also where snapshots are not set up right.
	if e, err := h.Snapshots(ctx, s); err == nil {
		served.Snapshots, served.Repository = e, e
		served.Consolidations, _ = e.(wire.Consolidator)
		h.guardWith(s, e)
	} else {
		h.Out.Warn("there are no snapshots: %v", err)
		h.guardWith(s, noSnapshots{err})
	}
	stop := h.completeIndex(at)
	return served, func() error {
		stop()
		return s.Close()
	}, nil
}

// openSnapshots opens the snapshots alone: the live agent may be missing or
// damaged, and is not made.
func (h *hosted) openSnapshots(ctx context.Context, tenant amber.TenantID) (*op.Agent, func() error, error) {
	s, err := h.OpenFrozen(ctx, cli.MayBeAbsent)
	if err != nil {
		return nil, nil, err
	}
	e, err := h.Snapshots(ctx, s)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	h.guardWith(s, e)
	served := &op.Agent{Tenant: tenant, Snapshots: e, Repository: e, Random: h.Random}
	served.Consolidations, _ = e.(wire.Consolidator)
	return served, s.Close, nil
}

// guardWith has a taker freeze the agent before tools, as configured.
func (h *hosted) guardWith(s *cli.Opened, taker wire.SnapshotTaker) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.guard = snapshot.ToolGuard{
		Taker: taker, Insist: snapshot.Insistence(s.Config.Config.Snapshot.Auto.BeforeMutatingTool), Warn: func(text string) { h.Out.Warn("%s", text) },
	}
}

// beforeTool freezes the agent before a tool changes something, as configured.
func (h *hosted) beforeTool(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, tool string) error {
	h.mu.Lock()
	guard := h.guard
	h.mu.Unlock()
	_, err := guard.BeforeMutatingTool(ctx, tenant, agent, tool)
	return err
}

// noSnapshots says why there are none.
type noSnapshots struct{ err error }

// Snapshot implements amber.SnapshotTaker.
func (n noSnapshots) Snapshot(context.Context, wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	return wire.SnapshotMeta{}, n.err
}
