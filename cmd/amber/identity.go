package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/project"
)

// identityFlags name what a scope is bound to.
type identityFlags struct {
	scope, project, user, workspace, session string
}

func (f *identityFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.scope, "scope", "", "session, user, project, workspace or global")
	f.addNames(cmd)
}

// addNames adds the flags without --scope, for verbs that only look.
func (f *identityFlags) addNames(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.project, "project", "", "the project (default from the git repository of the working directory)")
	fl.StringVar(&f.user, "user", "", "the user")
	fl.StringVar(&f.workspace, "workspace", "", "the workspace")
	fl.StringVar(&f.session, "session", "", "the session (default the active one)")
}

// named returns the identities that the flags name.
func (f identityFlags) named() amber.Identities {
	return amber.Identities{
		SessionID: amber.SessionID(f.session), UserID: f.user, ProjectID: f.project, WorkspaceID: f.workspace,
	}
}

// identities returns what is known here: what the flags say, the project of
// the working directory and the active session of the terminal.
func (a *app) identities(ctx context.Context, s *opened, f identityFlags) (amber.Identities, error) {
	ids := f.named()
	if ids.ProjectID == "" {
		dir, err := a.directory()
		if err != nil {
			return ids, &amber.Error{Op: "find working directory", Kind: amber.KindInternal, Err: err}
		}
		ids.ProjectID = projectOf(dir)
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

// projectOf names the project of a directory, "" outside of one.
func projectOf(dir string) string { return project.Of(dir).ID }
