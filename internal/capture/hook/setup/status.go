package setup

import (
	"os"
	"path/filepath"
	"slices"
)

// HostStatus is how a host stands to Amber.
type HostStatus struct {
	Host      string        `json:"host"`
	Title     string        `json:"title"`
	Found     bool          `json:"found"` // its folder or its program is there
	Installed bool          `json:"installed"`
	Path      string        `json:"path"` // of the first file with hooks, or of the one that would have them
	Scopes    []ScopeStatus `json:"scopes"`
	// Doubled says that events may come twice, for the reason in Notes.
	Doubled bool     `json:"doubled"`
	Trust   Trust    `json:"trust,omitempty"` // of Codex, when it is set up
	Notes   []string `json:"notes"`
}

// ScopeStatus is how a host is set up in one scope.
type ScopeStatus struct {
	Scope     Scope  `json:"scope"`
	Path      string `json:"path"` // of the hooks
	Installed bool   `json:"installed"`
	MCP       bool   `json:"mcp"`
	// Outdated says that setting up again would change something: the program
	// lies elsewhere, or this version asks for other events.
	Outdated bool `json:"outdated"`
	// Missing is a program that the entries run and that is not there.
	Missing string `json:"missing,omitempty"`
	// Through is the host whose entries this one runs.
	Through string `json:"through,omitempty"`
	Error   string `json:"error,omitempty"` // why a file could not be read or understood
}

// Status tells how every host stands. It changes nothing, and one host that
// cannot be read hides no other. Errors: invalid options.
func Status(o Options) ([]HostStatus, error) {
	o, err := o.look()
	if err != nil {
		return nil, err
	}
	var all []HostStatus
	for _, h := range hosts() {
		all = append(all, o.status(h))
	}
	o.markDoubled(all)
	return all, nil
}

func (o Options) status(h host) HostStatus {
	st := HostStatus{Host: h.name, Title: h.title, Found: o.found(h), Notes: []string{}}
	for _, s := range []Scope{User, Project} {
		if s == Project && o.Dir == o.Home {
			continue // the same files
		}
		sc := o.scopeStatus(h, s)
		st.Scopes = append(st.Scopes, sc)
		if sc.Installed && !st.Installed || st.Path == "" {
			st.Path = sc.Path
		}
		st.Installed = st.Installed || sc.Installed
	}
	if h.name == "codex" && st.Installed {
		st.Trust = o.codexTrust(st.Scopes)
	}
	return st
}

// found reports whether a host is on this machine.
func (o Options) found(h host) bool {
	for _, dir := range h.folders(o) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return true
		}
	}
	return slices.ContainsFunc(h.programs, func(name string) bool {
		_, err := o.LookPath(name)
		return err == nil
	})
}

func (o Options) scopeStatus(h host, s Scope) ScopeStatus {
	sc := ScopeStatus{Scope: s}
	fail := func(err error) {
		if err != nil && sc.Error == "" {
			sc.Error = err.Error()
		}
	}
	places, err := h.places(o, s)
	if err != nil {
		fail(err)
		return sc
	}
	var flags []string
	for _, pl := range places {
		seen, err := o.seeIn(pl)
		if err != nil {
			if !pl.idle {
				fail(err)
			}
			continue
		}
		if sc.Path == "" || seen.entries > 0 && !sc.Installed {
			sc.Path = pl.path
		}
		if seen.entries > 0 && !sc.Installed {
			flags = seen.flags
		}
		sc.Installed = sc.Installed || seen.entries > 0
		sc.MCP = sc.MCP || seen.servers > 0
		for _, program := range seen.programs {
			if sc.Missing == "" && !o.runs(program) {
				sc.Missing = program
			}
		}
	}
	if sc.Path == "" {
		sc.Path = places[0].path
	}
	if twin, err := o.twin(h.name, s); err == nil && twin != "" && !sc.Installed {
		sc.Installed, sc.Through = true, twin
	}
	if sc.Installed && sc.Through == "" && sc.Error == "" && isAmber(o.Executable) {
		o.Flags = flags // another agent is no reason to set up again
		plan, err := Install(h.name, s, o)
		fail(err)
		sc.Outdated = err == nil && plan.Any()
	}
	return sc
}

// seeIn says what Amber has in a place.
func (o Options) seeIn(pl place) (sight, error) {
	f, err := o.read(pl.path)
	if err != nil {
		return sight{}, err
	}
	seen, err := pl.text.look(f.text)
	if err != nil {
		return sight{}, broken(pl.path, err)
	}
	return seen, nil
}

// runs reports whether a program is there.
func (o Options) runs(program string) bool {
	if !filepath.IsAbs(program) && filepath.VolumeName(program) == "" {
		_, err := o.LookPath(program)
		return err == nil
	}
	info, err := os.Stat(program)
	return err == nil && !info.IsDir()
}

// codexTrust looks up what Codex noted about the hooks of all scopes.
func (o Options) codexTrust(scopes []ScopeStatus) Trust {
	trust := TrustUnknown
	for _, sc := range scopes {
		if !sc.Installed || filepath.Base(sc.Path) != "hooks.json" {
			continue
		}
		f, err := o.read(sc.Path)
		if err != nil {
			return TrustUnknown
		}
		d, err := jsonFile{}.parse(f.text, memory{})
		if err != nil {
			return TrustUnknown
		}
		h := hooks{host: "codex", at: []string{"hooks"}, nested: true}
		if trust = o.trust(sc.Path, h.see(d.json)); trust != TrustRecorded {
			return trust
		}
	}
	return trust
}

// markDoubled finds hosts that get every event twice.
func (o Options) markDoubled(all []HostStatus) {
	claude := all[slices.IndexFunc(all, func(st HostStatus) bool { return st.Host == "claude-code" })]
	for i := range all {
		st := &all[i]
		for _, r := range readers {
			runs := func(sc ScopeStatus) bool { return sc.Installed && slices.Contains(r.scopes, sc.Scope) }
			if r.host == st.Host && st.Installed && slices.ContainsFunc(claude.Scopes, runs) {
				st.Doubled = true
				st.Notes = append(st.Notes, r.note)
			}
		}
		both := len(st.Scopes) == 2 && st.Scopes[0].Installed && st.Scopes[1].Installed
		if both && st.Host != "claude-code" { // which runs the same command once
			st.Doubled = true
			st.Notes = append(st.Notes, "host is set up for the user and for this project; every event of this project comes twice")
		}
	}
}
