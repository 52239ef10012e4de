package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// IdentityFlags name what a scope is bound to.
type IdentityFlags struct {
	Scope, Project, User, Workspace, Session string
}

// Add adds the flags, with --scope.
func (f *IdentityFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Scope, "scope", "", "session, user, project, workspace or global")
	f.AddNames(cmd)
}

// AddNames adds the flags without --scope, for verbs that only look.
func (f *IdentityFlags) AddNames(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.Project, "project", "", "the project (default that of the working directory)")
	fl.StringVar(&f.User, "user", "", "the user")
	fl.StringVar(&f.Workspace, "workspace", "", "the workspace")
	fl.StringVar(&f.Session, "session", "", "the session (default the active one)")
}

// Named returns the identities that the flags name.
func (f IdentityFlags) Named() amber.Identities {
	return amber.Identities{
		SessionID: amber.SessionID(f.Session), UserID: f.User, ProjectID: f.Project, WorkspaceID: f.Workspace,
	}
}

// Identities returns what is known here: what the flags say, the project of
// the working directory and the active session of the terminal.
func (a *App) Identities(ctx context.Context, s *Opened, f IdentityFlags) (amber.Identities, error) {
	ids := f.Named()
	if ids.ProjectID == "" {
		dir, err := a.Directory()
		if err != nil {
			return ids, &amber.Error{Op: "find working directory", Kind: amber.KindInternal, Err: err}
		}
		ids.ProjectID = a.Project(ctx, dir).ID
	}
	if ids.SessionID == "" {
		active, err := s.Store.Active.ActiveSession(ctx, amber.DefaultBinding)
		switch amber.KindOf(err) {
		case "":
			ids.SessionID = active.ID
		case amber.KindNotFound, amber.KindUnsupported:
		default:
			return ids, err
		}
	}
	return ids, nil
}

// Place gives a request its identities and, where it has none, its scope: the
// narrowest identity that was named, else the project of the working
// directory, else global. The active session names where a memory comes from
// and never narrows who sees it. A memory that has an id was placed when it was
// stored first.
func (a *App) Place(ctx context.Context, s *Opened, r amber.WriteRequest, f IdentityFlags) (amber.WriteRequest, error) {
	if r.ID != "" {
		return r, nil
	}
	for _, own := range []struct {
		flag *string
		line string
	}{{&f.Project, r.ProjectID}, {&f.User, r.UserID}, {&f.Workspace, r.WorkspaceID}, {&f.Session, string(r.SessionID)}} {
		if own.line != "" {
			*own.flag = own.line
		}
	}
	ids, err := a.Identities(ctx, s, f)
	if err != nil {
		return r, err
	}
	r.Identities = ids
	if r.Scope == "" {
		named := f.Named()
		if named == (amber.Identities{}) {
			named.ProjectID = ids.ProjectID
		}
		r.Scope = named.Narrowest()
	}
	return r, nil
}
