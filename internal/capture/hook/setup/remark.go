package setup

import "slices"

// remark notes what the user should know about the host.
func (p *Plan) remark(places []place) error {
	if p.Scope == Project {
		p.Notes = append(p.Notes, "the entries name "+p.o.Executable+"; do not commit them for people who have Amber elsewhere")
	}
	if p.o.MCP && (p.Host == "copilot" && p.Scope == Project || p.Host == "vscode" && p.Scope == User) {
		p.Notes = append(p.Notes, "the MCP server is not added: "+p.Title+" has no file of its own for it in this scope")
	}
	if p.Host == "claude-code" && p.o.claudeIsOld() {
		p.Notes = append(p.Notes, "Claude Code has noted that it is older than "+claudeLaterVersion+", so the events "+
			claudeLater+" are left out: that version would reject the whole file. Update Claude Code, start it once and set up again")
	}
	if p.Host == "codex" {
		doc, err := p.o.readTOML(codexConfig(places))
		if err != nil {
			return err
		}
		if switchedOff(doc) {
			p.Notes = append(p.Notes, "config.toml switches hooks off with features.hooks = false")
		}
	}
	for _, reader := range readers {
		if reader.host != p.Host {
			continue
		}
		if twice, err := p.o.installed("claude-code", reader.scopes...); err == nil && twice {
			p.Notes = append(p.Notes, reader.note)
		}
	}
	return nil
}

// codexConfig returns which of the places is config.toml.
func codexConfig(places []place) string {
	i := slices.IndexFunc(places, func(pl place) bool { _, ok := pl.text.(tomlFile); return ok })
	return places[i].path
}

// installed reports whether a host has Amber's hooks in one of the scopes.
func (o Options) installed(name string, scopes ...Scope) (bool, error) {
	h, err := findHost(name)
	if err != nil {
		return false, err
	}
	for _, s := range scopes {
		places, err := h.places(o, s)
		if err != nil {
			return false, err
		}
		for _, pl := range places {
			seen, err := o.seeIn(pl)
			if err != nil && !pl.idle {
				return false, err
			}
			if seen.entries > 0 {
				return true, nil
			}
		}
	}
	return false, nil
}

// readers are hosts that also run the hooks of Claude Code.
var readers = []struct {
	host   string
	scopes []Scope
	note   string
}{
	{"cursor", []Scope{User, Project}, "Cursor also runs the hooks of Claude Code when it includes third-party configuration; then every event comes twice"},
	{"vscode", []Scope{User, Project}, "VS Code also runs the hooks of Claude Code unless chat.hookFilesLocations says otherwise; then every event comes twice"},
	{"copilot", []Scope{Project}, "Copilot also runs the hooks that Claude Code has in this project; every event comes twice"},
}

// shared reports whether the hooks of a place are those of another host that
// reads the same file.
func (p *Plan) shared(pl place) (bool, error) {
	twin, err := p.o.twin(p.Host, p.Scope)
	if err != nil || twin == "" {
		return false, err
	}
	p.Notes = append(p.Notes, p.Title+" reads "+pl.path+", which is set up for "+twin+"; a second entry would deliver every event twice")
	p.Changes = append(p.Changes, Change{Path: pl.path, Action: Unchanged})
	return true, nil
}

// twin returns the host whose entries are in the file that this host reads
// too, "" when there are none.
func (o Options) twin(name string, s Scope) (string, error) {
	twin := other[name]
	if twin == "" {
		return "", nil
	}
	h, err := findHost(twin)
	if err != nil {
		return "", err
	}
	places, err := h.places(o, s)
	if err != nil {
		return "", err
	}
	seen, err := o.seeIn(places[0])
	if err != nil || seen.entries == 0 {
		return "", err
	}
	return twin, nil
}
