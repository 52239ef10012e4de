package setup

import "slices"

// Action is what happens to a file.
type Action string

// The actions.
const (
	Created   Action = "created"
	Changed   Action = "changed"
	Unchanged Action = "unchanged"
	Removed   Action = "removed"
)

// Plan is what installing or uninstalling would do.
type Plan struct {
	Host    string
	Title   string // of the host, for people
	Scope   Scope
	Changes []Change // also of files that stay as they are
	Notes   []string // what the user should know
	Next    []string // what the user should do after Apply

	o        Options
	removing bool
}

// Change is what happens to one file.
type Change struct {
	Path   string
	Action Action
	// Backup is where the text before is kept until uninstalling; "" when it is
	// not.
	Backup string

	file  file
	after []byte // nil: the file is removed
	// record is what to remember; nil: forget what is remembered.
	record   *record
	original []byte
	dirs     []string // to remove when they are empty
	drop     bool     // there is a record to forget
}

// Diff returns the change as a unified diff, "" when nothing changes.
func (c Change) Diff() string {
	if c.Action == Unchanged {
		return ""
	}
	return diff(c.Path, c.file.text, c.after)
}

// Any reports whether a file changes.
func (p *Plan) Any() bool {
	return slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Action != Unchanged })
}

// Install returns what has to be done so that a host gives its events to this
// Amber. It changes nothing. When everything is in place already the plan has
// no changes. Errors: invalid for an unknown host or scope and for a settings
// file that is broken; conflict when a name is taken; refused when a file may not be
// written; quota when it is too large; internal.
func Install(name string, s Scope, o Options) (*Plan, error) {
	p, places, err := begin(name, s, o)
	if err != nil {
		return nil, err
	}
	for i, pl := range places {
		if pl.retired {
			if err := p.retire(pl); err != nil {
				return nil, err
			}
		}
		if pl.idle {
			continue
		}
		if i == 0 {
			shared, err := p.shared(pl)
			if err != nil {
				return nil, err
			}
			if shared {
				continue
			}
		}
		c, err := p.install(pl)
		if err != nil {
			return nil, err
		}
		p.Changes = append(p.Changes, c)
	}
	if err := p.remark(places); err != nil {
		return nil, err
	}
	return p, nil
}

// retire plans to take Amber out of a place, if it is there.
func (p *Plan) retire(pl place) error {
	c, found, err := p.uninstall(pl)
	if err == nil && found {
		p.Changes = append(p.Changes, c)
	}
	return err
}

// begin finds the host and its files.
func begin(name string, s Scope, o Options) (*Plan, []place, error) {
	o, err := o.check()
	if err != nil {
		return nil, nil, err
	}
	if _, err := ParseScope(string(s)); err != nil {
		return nil, nil, err
	}
	h, err := findHost(name)
	if err != nil {
		return nil, nil, err
	}
	places, err := h.places(o, s)
	if err != nil {
		return nil, nil, err
	}
	return &Plan{Host: name, Title: h.title, Scope: s, Next: []string{h.next}, o: o}, places, nil
}

// install plans one file.
func (p *Plan) install(pl place) (Change, error) {
	f, err := p.o.read(pl.path)
	if err != nil {
		return Change{}, err
	}
	old, original, err := p.o.recall(f.target)
	if err != nil {
		return Change{}, err
	}
	known := old != nil && f.exists && digest(f.text) == old.Result
	m := memory{}
	if old != nil {
		m = old.Memory
	}
	after, _, err := pl.text.install(f.text, m)
	if err != nil {
		return Change{}, broken(f.path, err)
	}
	c := Change{Path: f.path, Action: Unchanged, file: f, after: after}
	if f.exists && string(after) == string(f.text) {
		return c, nil
	}
	if err := p.o.writable(f); err != nil {
		return Change{}, err
	}
	c.Action = Changed
	c.record = &record{Schema: recordSchema, Host: p.Host, Scope: p.Scope, Path: f.target, Result: digest(after)}
	switch {
	case !f.exists:
		c.Action = Created
		c.record.Dirs = missing(f.target)
		_, c.record.Memory, err = pl.text.install(nil, memory{})
	case known && (old.Original == "" || original != nil):
		// Still what setup left: what was before it stays what was before.
		c.original, c.record.Original, c.record.Dirs, c.record.Memory = original, old.Original, old.Dirs, old.Memory
	default:
		err = p.rebase(&c, pl, old)
	}
	if err != nil {
		return Change{}, broken(f.path, err)
	}
	if c.original != nil {
		c.Backup = p.o.recordPath(f.target, ".original")
	}
	return c, nil
}

// rebase makes the text without Amber's entries the one to restore.
func (p *Plan) rebase(c *Change, pl place, old *record) error {
	m := memory{}
	if old != nil {
		m, c.record.Dirs = old.Memory, old.Dirs
	}
	rest, nothing, err := pl.text.uninstall(c.file.text, m)
	if err != nil || nothing && pl.made(old) {
		return err // there is no text to restore: the file goes
	}
	c.original, c.record.Original = rest, digest(rest)
	_, c.record.Memory, err = pl.text.install(rest, memory{})
	return err
}
