package cli

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/internal/capture/project"
)

// Projects is the registry of the folders that the home knows. Where there is no agent, and with look, nothing
// is written.
func (a *App) Projects(look bool) (*project.Registry, error) {
	dir, err := a.HomeDir()
	return &project.Registry{Home: dir, Clock: a.Clock, Evidence: a.evidence, UserHome: cmp.Or(a.Getenv("HOME"), a.Getenv("USERPROFILE")), Look: look || a.absent}, err
}

// Project is what a folder has, "" outside of projects. Why a folder that may have one has a name of its own is said on
// stderr.
func (a *App) Project(ctx context.Context, dir string) project.Grant {
	r, err := a.Projects(false)
	if err != nil {
		a.Out.Note("the folder is in no project: %v", err)
		return project.Grant{}
	}
	return a.projectIn(ctx, r, dir)
}

func (a *App) projectIn(ctx context.Context, r *project.Registry, dir string) project.Grant {
	g, err := r.Of(ctx, dir)
	if err != nil {
		a.Out.Note("the project of %s is not known now, so it has a name of its own: %v", Safe(dir), err)
	}
	return g
}

// ProjectOf is the project that a folder has in a registry.
func (a *App) ProjectOf(ctx context.Context, r *project.Registry, dir string) string {
	return a.projectIn(ctx, r, dir).ID
}

// evidence is what the store holds of projects; nil where there is no agent.
func (a *App) evidence(ctx context.Context) (project.Evidence, error) {
	s, err := a.openEvidence(ctx)
	if amber.KindOf(err) == amber.KindNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return agent.Evidence{Store: s.Store, Done: s.Close}, nil
}

func (a *App) openEvidence(ctx context.Context) (*Opened, error) {
	if a.Remote != nil {
		return a.openRemote(ctx)
	}
	loaded, err := a.LoadConfig()
	if err != nil {
		return nil, err
	}
	return a.Look(ctx, loaded)
}
