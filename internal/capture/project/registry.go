package project

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// Registry decides which project a folder has. It is safe for concurrent use, also by several
// processes.
type Registry struct {
	Home  string // folder of the home; it is made where a folder is to be remembered
	Clock amber.Clock
	// Evidence opens what the home holds. It is only asked about folders that the home does not know.
	// Nil evidence holds nothing; other evidence is closed.
	Evidence func(ctx context.Context) (Evidence, error)
	// UserHome is the home folder of the user. It and the folders above it are in no project; "": no folder outside of git is,
	// unless .amber/project names one.
	UserHome string
	// Look answers what would be decided and writes nothing.
	Look bool
}

// Evidence is what a home holds of projects.
type Evidence interface {
	// Holds reports whether there is a record of a project.
	Holds(ctx context.Context, project string) (bool, error)
	// RanIn returns the folders of the home's own sessions of a project that began before a time.
	RanIn(ctx context.Context, project string, before amber.Time) ([]string, error)
	Close() error
}

// Grant is what a folder has. The zero value has no project.
type Grant struct {
	ID     string `json:"id"`
	Source Source `json:"source,omitempty"`
	Top    string `json:"top,omitempty"` // the top of the work tree, or the folder that holds .amber
	// Claimed is the name in .amber/project where something else names the project.
	Claimed string `json:"claimed,omitempty"`
	// Ignored names a file that counts for nothing, and says why.
	Ignored string `json:"ignored,omitempty"`
	// Asks is a project that the folder is not given until its user confirms what it claims, and
	// Folders are those that have it.
	Asks    string   `json:"asks,omitempty"`
	Folders []string `json:"folders,omitempty"`
	// Others are what else the folder may have been called. Other folders may have been called the same.
	Others []string `json:"-"`

	claim claim
}

// Of returns the grant of a directory. A folder that the home does not know gets its project now,
// or has to ask for it. The grant is good also with an error. The error says why a folder that may
// have a project has a name of its own this once.
func (r *Registry) Of(ctx context.Context, dir string) (Grant, error) {
	c := claimOf(dir, r.UserHome)
	if c.name == "" {
		return Grant{Ignored: c.ignored}, nil
	}
	known, err := r.load()
	if err != nil {
		return c.undecided(), err
	}
	if one := known.find(c); one != nil {
		return c.grant(*one, known), nil
	}
	e, err := r.gather(ctx, c, known)
	if err != nil {
		return c.undecided(), err
	}
	var g Grant
	err = r.change(ctx, func(p *pins) bool {
		one := p.find(c)
		fresh := one == nil
		if fresh {
			one = p.decide(c, e)
			one.At = amber.At(r.Clock())
			p.put(*one)
		}
		g = c.grant(*one, p)
		return fresh
	})
	if err != nil {
		return c.undecided(), err
	}
	return g, nil
}

// evidence is what the home holds of the names of a folder.
type evidence struct {
	ran   string // the project of the home's own sessions in the folder
	holds bool   // a record of the name that it claims
	older string // an earlier name that has records
}

// gather asks what the home holds. Nothing is asked of a folder that was moved.
func (r *Registry) gather(ctx context.Context, c claim, known *pins) (e evidence, err error) {
	if known.moved(c) != nil {
		return e, nil
	}
	home, err := r.Evidence(ctx)
	if home == nil || err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, home.Close()) }()
	if e.ran, err = ranIn(ctx, home, c, known.Since); e.ran != "" || err != nil {
		return e, err
	}
	if c.source != Path { // no other folder has the name of a path
		if e.holds, err = home.Holds(ctx, c.name); err != nil {
			return e, err
		}
	}
	for _, name := range c.older {
		held, err := home.Holds(ctx, name)
		if err != nil {
			return e, err
		}
		if held {
			e.older = name
		}
	}
	return e, nil
}

// ranIn returns the project of sessions that ran in the folder before the home began to pin.
func ranIn(ctx context.Context, home Evidence, c claim, since amber.Time) (string, error) {
	if since.IsZero() {
		return "", nil
	}
	for _, name := range slices.Concat([]string{c.name}, c.others) {
		dirs, err := home.RanIn(ctx, name, since)
		if err != nil {
			return "", err
		}
		if slices.ContainsFunc(dirs, c.contains) {
			return name, nil
		}
	}
	return "", nil
}

// decide pins a folder that the home does not know.
func (p *pins) decide(c claim, e evidence) *pin {
	one := &pin{Place: c.place, Owner: owner(c.place), Identity: identity(c.place), Says: c.says, Name: c.name, Project: c.name}
	if old := p.moved(c); old != nil {
		one.Project, one.Asks = old.Project, old.Asks
		old.Place, old.Says, old.Name = c.place, c.says, c.name
		return one
	}
	if e.ran != "" {
		one.Project = e.ran
		return one
	}
	holder := p.holder(c.name)
	switch {
	case holder != "":
		one.Project, one.Asks = c.own(), holder
	case e.holds, c.odd():
		one.Project, one.Asks = c.own(), c.name
	case e.older != "" && p.holder(e.older) == "":
		one.Asks = e.older
	}
	return one
}

// grant is what a pin gives.
func (c claim) grant(one pin, p *pins) Grant {
	g := Grant{ID: one.Project, Source: Pinned, Top: c.top, Claimed: c.claimed, Ignored: c.ignored, Asks: one.Asks, claim: c}
	switch {
	case one.Project == c.name:
		g.Source = c.source
	case strings.HasPrefix(one.Project, ownPrefix):
		g.Source = Unconfirmed
	}
	if g.Claimed == g.ID {
		g.Claimed = ""
	}
	if one.Asks != "" {
		g.Folders = p.folders(one.Asks)
	}
	for _, name := range slices.Concat([]string{c.name}, c.others, []string{c.own()}) {
		if name != g.ID && name != g.Asks {
			g.Others = append(g.Others, name)
		}
	}
	return g
}

// undecided is what a folder has of which the home could not decide.
func (c claim) undecided() Grant {
	return Grant{ID: c.own(), Source: Unconfirmed, Top: c.top, Claimed: c.claimed, Ignored: c.ignored, claim: c}
}

// Trust gives a folder what it asks for: its user has confirmed it. Was is the name of its own under
// which records may lie that belong to the project now. Errors: conflict where the folder asks for
// nothing, or for something else than expected.
func (r *Registry) Trust(ctx context.Context, dir, expected string) (now Grant, was string, err error) {
	c, said := claimOf(dir, r.UserHome), false
	err = r.change(ctx, func(p *pins) bool {
		one := p.find(c)
		if one == nil || one.Asks != expected || expected == "" {
			return false
		}
		was, said = one.Project, true
		one.Project, one.Asks, one.At = expected, "", amber.At(r.Clock())
		now = c.grant(*one, p)
		return true
	})
	if err == nil && !said {
		err = amber.Errorf(amber.KindConflict, "trust folder", dir, "the folder does not ask for %s", cmp.Or(expected, "a project")).WithHint("amber project")
	}
	return now, was, err
}

// TrustAt gives the folder that the home knows by a place what it asks for, as [Registry.Trust] does for a directory in it. Was
// are the names of its own under which records may lie that belong to the project now.
func (r *Registry) TrustAt(ctx context.Context, place, expected string) (was []string, err error) {
	said := false
	err = r.change(ctx, func(p *pins) bool {
		one := p.at(place)
		if one == nil || one.Asks != expected || expected == "" || !p.stands(*one, r.UserHome) {
			return false
		}
		for _, name := range []string{one.Project, claim{place: place}.own()} {
			if name != expected && !slices.Contains(was, name) {
				was = append(was, name)
			}
		}
		said = true
		one.Project, one.Asks, one.At = expected, "", amber.At(r.Clock())
		return true
	})
	if err == nil && !said {
		err = amber.Errorf(amber.KindConflict, "trust folder", place, "the folder does not ask for %s", cmp.Or(expected, "a project")).WithHint("amber project list")
	}
	return was, err
}

// Set names the project of a directory: for this home, for this machine, and in .amber/project for
// everybody who has the repository. Was is the name of its own that the folder had until now, ""
// for none. Errors: invalid for what is not a name; refused where .amber is not a folder or the file
// is not a regular file.
func (r *Registry) Set(ctx context.Context, dir, name string) (now Grant, was string, err error) {
	before := claimOf(dir, r.UserHome)
	if err := write(dir, name); err != nil {
		return now, "", err
	}
	c := claimOf(dir, r.UserHome)
	err = r.change(ctx, func(p *pins) bool {
		if old := p.at(before.place); before.place != "" && old != nil && (old.Asks == name || strings.HasPrefix(old.Project, ownPrefix)) && old.Project != name {
			was = old.Project
		}
		one := pin{
			Place: c.place, Owner: owner(c.place), Identity: identity(c.place), Says: c.says, Name: c.name, Project: name, At: amber.At(r.Clock()),
		}
		p.put(one)
		now = c.grant(one, p)
		now.Source = c.source
		return true
	})
	return now, was, err
}

// Own is the name of the folder while its claim is not confirmed.
func (g Grant) Own() string { return g.claim.own() }

// IsOwn reports whether a name is one that folders have whose claim is not confirmed.
func IsOwn(name string) bool { return strings.HasPrefix(name, ownPrefix) }

// SameFolderName reports whether id is what a repository would be called that lies elsewhere and
// whose folder has the same name: the one that the folder was before it was moved, or another one.
func (g Grant) SameFolderName(id string) bool {
	if !g.claim.git || id == g.ID {
		return false
	}
	own := named(g.claim.place)
	stem, _ := cutDigest(own)
	other, _ := cutDigest(id)
	return id != own && stem == other
}

// Contains reports whether a folder is in the repository of g, in any of its work trees, or below
// its top where it is in none.
func (g Grant) Contains(dir string) bool { return g.claim.contains(dir) }

// Folder is a folder that the home knows.
type Folder struct {
	Place   string     `json:"place"`
	Project string     `json:"project"`
	Asks    string     `json:"asks,omitempty"`
	At      amber.Time `json:"at"`
	// Has are the folders that have what the folder asks for.
	Has []string `json:"-"`
}

// Folders lists the folders that the home knows.
func (r *Registry) Folders() ([]Folder, error) {
	p, err := r.load()
	if err != nil {
		return nil, err
	}
	out := []Folder{}
	for _, one := range p.Folders {
		f := Folder{Place: one.Place, Project: one.Project, Asks: one.Asks, At: one.At}
		if one.Asks != "" {
			f.Has = p.folders(one.Asks)
		}
		out = append(out, f)
	}
	return out, nil
}
