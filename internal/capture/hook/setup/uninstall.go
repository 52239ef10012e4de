package setup

// Uninstall returns what has to be done to take Amber out of the settings of a
// host. It changes nothing. Errors: those of [Install].
func Uninstall(name string, s Scope, o Options) (*Plan, error) {
	p, places, err := begin(name, s, o)
	if err != nil {
		return nil, err
	}
	p.Next, p.removing = nil, true
	for _, pl := range places {
		c, found, err := p.uninstall(pl)
		if err != nil && pl.idle && !found && !c.drop {
			continue // setup has never written there
		}
		if err != nil {
			return nil, err
		}
		if found || c.drop || !pl.idle {
			p.Changes = append(p.Changes, c)
		}
	}
	twin, err := p.o.twin(name, s)
	if err != nil {
		return nil, err
	}
	if twin != "" {
		p.Notes = append(p.Notes, p.Title+" still reads "+places[0].path+", which is set up for "+twin)
	}
	return p, nil
}

// uninstall plans one file and reports whether Amber was in it. The change that it
// returns beside an error says only whether there is a record.
func (p *Plan) uninstall(pl place) (Change, bool, error) {
	c := Change{Path: pl.path, Action: Unchanged}
	f, err := p.o.read(pl.path)
	if err != nil {
		return c, false, err
	}
	old, original, err := p.o.recall(f.target)
	if err != nil {
		return c, false, err
	}
	c.file, c.after = f, f.text
	if c.drop = p.o.remembers(f.target); old != nil {
		c.drop = old.Host == p.Host
	}
	if !f.exists {
		return c, false, nil
	}
	seen, err := pl.text.look(f.text)
	if err != nil {
		return c, false, broken(f.path, err)
	}
	if !seen.any() {
		return c, false, nil
	}
	if err := p.o.writable(f); err != nil {
		return c, true, err
	}
	if err := p.restore(&c, pl, old, original); err != nil {
		return c, true, broken(f.path, err)
	}
	c.Action = Changed
	if c.after == nil {
		c.Action = Removed
	}
	return c, true, nil
}

// restore finds the text without Amber's entries.
func (p *Plan) restore(c *Change, pl place, old *record, original []byte) error {
	m := memory{}
	if old != nil {
		m, c.dirs = old.Memory, old.Dirs
		if digest(c.file.text) == old.Result && (old.Original == "" || original != nil) {
			c.after = original
			return nil
		}
	}
	rest, nothing, err := pl.text.uninstall(c.file.text, m)
	if err != nil {
		return err
	}
	if nothing && pl.made(old) {
		rest = nil
	}
	c.after = rest
	return nil
}
