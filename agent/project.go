package agent

import (
	"cmp"
	"context"
	"os"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/project"
	"github.com/amber-memory/amber/wire"
)

// ProjectReport says what names a project and what is stored under its names.
type ProjectReport struct {
	project.Grant
	Stored Stored   `json:"stored"` // under the name of the project
	Others []Stored `json:"others"` // under names the repository may have had
	DryRun bool     `json:"dry_run,omitempty"`
}

// Stored is what a store holds of one project.
type Stored struct {
	ID          string   `json:"id"`
	Memories    int      `json:"memories"`
	Sessions    int      `json:"sessions"`
	Directories []string `json:"directories"` // of the sessions
	More        bool     `json:"more,omitempty"`
}

// String counts memories and sessions.
func (s Stored) String() string {
	more := ""
	if s.More {
		more = " or more"
	}
	return words.Count(s.Memories, "memory", "memories") + " and " + words.Count(s.Sessions, "session", "sessions") + more
}

// StoredUnder counts what is stored under the name of a project, up to a page of
// each kind.
func StoredUnder(ctx context.Context, s amber.Store, id string) (Stored, error) {
	out := Stored{ID: id, Directories: []string{}}
	if id == "" {
		return out, nil
	}
	memories, err := s.Memories.List(ctx, amber.ListQuery{
		Filter: amber.Filter{Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: id}}, Limit: amber.MaxPageSize,
	})
	if err != nil {
		return out, err
	}
	sessions, err := s.Sessions.ListSessions(ctx, amber.SessionQuery{Project: id, Limit: amber.MaxPageSize})
	if err != nil {
		return out, err
	}
	out.Memories, out.Sessions, out.More = len(memories.Items), len(sessions.Items), memories.Next != "" || sessions.Next != ""
	for _, one := range sessions.Items {
		if one.Directory != "" && !slices.Contains(out.Directories, one.Directory) {
			out.Directories = append(out.Directories, one.Directory)
		}
	}
	slices.Sort(out.Directories)
	return out, nil
}

// ReportProject looks up what is stored under the names of a project.
func ReportProject(ctx context.Context, s amber.Store, p project.Grant) (r ProjectReport, err error) {
	r = ProjectReport{Grant: p, Others: []Stored{}}
	if r.Stored, err = StoredUnder(ctx, s, p.ID); err != nil {
		return r, err
	}
	names, err := movedFrom(ctx, s, p)
	if err != nil {
		return r, err
	}
	for _, name := range append(slices.Clone(p.Others), names...) {
		found, err := StoredUnder(ctx, s, name)
		if err != nil {
			return r, err
		}
		if found.Memories+found.Sessions > 0 {
			r.Others = append(r.Others, found)
		}
	}
	return r, nil
}

// JoinProject gives the records of one project to another by the word of a caller of some trust, after what hooks have kept was
// brought in. Errors: refused where a memory is trusted more; unsupported where memory lies on a server.
func (a *Agent) JoinProject(ctx context.Context, from, to string, by amber.Trust) (memories, sessions int, err error) {
	if a.core == nil {
		return 0, 0, amber.Errorf(amber.KindUnsupported, "join projects", from, "memory lies elsewhere").WithHint("recall --project " + from)
	}
	a.Settle(ctx)
	return a.core.JoinProject(ctx, from, to, by)
}

var _ wire.FolderKeeper = (*Agent)(nil)

// WaitingFolders implements [wire.FolderKeeper].
func (a *Agent) WaitingFolders(context.Context) ([]wire.WaitingFolder, error) {
	known, err := a.folders().Folders()
	out := []wire.WaitingFolder{}
	for _, f := range known {
		if f.Asks != "" {
			out = append(out, wire.WaitingFolder{Place: f.Place, Project: f.Project, Asks: f.Asks, Folders: append([]string{}, f.Has...), At: f.At})
		}
	}
	return out, err
}

// TrustFolder implements [wire.FolderKeeper].
func (a *Agent) TrustFolder(ctx context.Context, t wire.FolderTrust) (wire.TrustedFolder, error) {
	out := wire.TrustedFolder{Place: t.Place, Project: t.Asks}
	if err := t.Check(); err != nil {
		return out, err
	}
	was, err := a.folders().TrustAt(ctx, t.Place, t.Asks)
	if err != nil || a.core == nil {
		return out, err
	}
	for _, name := range was {
		memories, sessions, err := a.JoinProject(ctx, name, t.Asks, amber.TrustOwn)
		if err != nil {
			return out, err
		}
		out.Memories, out.Sessions = out.Memories+memories, out.Sessions+sessions
	}
	return out, nil
}

// folders decides which project a folder has.
func (a *Agent) folders() *project.Registry {
	userHome := cmp.Or(a.o.Getenv("HOME"), a.o.Getenv("USERPROFILE"))
	return &project.Registry{Home: a.home.Dir(), Clock: a.o.Clock, UserHome: userHome, Evidence: func(context.Context) (project.Evidence, error) {
		return Evidence{Store: a.plain, Done: func() error { return nil }}, nil
	}}
}

// place returns the project of an event. A hook that could not ask the store, because it had to be migrated or was
// away, and one that ran before the user confirmed the folder, name the folder's own; the folder is asked once more.
func (a *Agent) place(ctx context.Context, ev journal.HostEvent) string {
	if !project.IsOwn(ev.Project) || ev.Directory == "" {
		return ev.Project
	}
	has, err := a.folders().Of(ctx, ev.Directory)
	if err != nil || has.Own() != ev.Project {
		return ev.Project
	}
	return has.ID
}

// movedFrom returns the names of repositories of the same folder name whose sessions
// ran in folders that are gone.
func movedFrom(ctx context.Context, s amber.Store, p project.Grant) ([]string, error) {
	recent, err := s.Sessions.ListSessions(ctx, amber.SessionQuery{Limit: amber.MaxPageSize})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, one := range recent.Items {
		if !p.SameFolderName(one.Project) || slices.Contains(names, one.Project) || one.Directory == "" {
			continue
		}
		if _, err := os.Lstat(one.Directory); err != nil {
			names = append(names, one.Project)
		}
	}
	return names, nil
}

// Evidence is what a store holds of projects, for the registry of folders.
type Evidence struct {
	amber.Store
	Done func() error // closes the store
}

var _ project.Evidence = Evidence{}

// Close implements [project.Evidence].
func (e Evidence) Close() error { return e.Done() }

// Holds implements [project.Evidence].
func (e Evidence) Holds(ctx context.Context, name string) (bool, error) {
	memories, err := e.Memories.List(ctx, amber.ListQuery{
		Filter: amber.Filter{Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: name}}, Limit: 1,
	})
	if err != nil && amber.KindOf(err) != amber.KindUnsupported || len(memories.Items) > 0 {
		return len(memories.Items) > 0, err
	}
	sessions, err := e.Sessions.ListSessions(ctx, amber.SessionQuery{Project: name, Limit: 1})
	if amber.KindOf(err) == amber.KindUnsupported {
		err = nil
	}
	return len(sessions.Items) > 0, err
}

// maxSessionPages bounds how many sessions of a project are looked at.
const maxSessionPages = 20

// RanIn implements [project.Evidence].
func (e Evidence) RanIn(ctx context.Context, name string, before amber.Time) (dirs []string, err error) {
	q := amber.SessionQuery{Project: name, Trusted: true, Limit: amber.MaxPageSize}
	for range maxSessionPages {
		page, err := e.Sessions.ListSessions(ctx, q)
		if err != nil {
			if amber.KindOf(err) == amber.KindUnsupported {
				err = nil
			}
			return dirs, err
		}
		for _, s := range page.Items {
			own := s.Trust == "" || s.Trust == amber.TrustOwn
			if own && s.Directory != "" && s.StartedAt.Before(before) && !slices.Contains(dirs, s.Directory) {
				dirs = append(dirs, s.Directory)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	return dirs, nil
}
