package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/hook"
	"github.com/amber-memory/amber/hook/setup"
	"github.com/amber-memory/amber/journal"
)

// checkHosts looks at every agent host that is on this machine, one finding
// each. None of them is a failure of Amber's.
func (d *doctor) checkHosts(cmd *cobra.Command) {
	o, err := d.setupOptions(cmd)
	if err != nil {
		d.skip("hosts", err.Error())
		return
	}
	all, err := setup.Status(o)
	if err != nil {
		d.skip("hosts", err.Error())
		return
	}
	seen := d.lastSeen(cmd.Context())
	found := false
	for _, st := range all {
		if st.Found || st.Installed {
			found = true
			d.add(hostFinding(st, seen(st.Host)))
		}
	}
	if !found {
		d.judge("hosts", nil, "no agent host was found")
	}
}

// hostFinding is the finding about one host.
func hostFinding(st setup.HostStatus, seen string) finding {
	f := finding{Code: "hosts", Status: statusOK}
	said := []string{st.Host + ": "}
	switch {
	case !st.Installed:
		said[0] += "found, not set up"
	default:
		said[0] += "set up for " + installedIn(st)
		said = append(said, "last event "+seen)
	}
	f.Detail = strings.Join(append(said, remarks(st)...), "; ")
	again := "amber setup " + st.Host
	for _, sc := range st.Scopes {
		if sc.Scope == setup.Project {
			again += " --scope project"
		}
		switch {
		case sc.Error != "":
			f.Status, f.Hint = statusWarning, "correct the file"
			return f
		case sc.Missing != "" || sc.Outdated:
			f.Status, f.Hint = statusWarning, again
			return f
		}
	}
	switch {
	case st.Doubled:
		f.Status, f.Hint = statusWarning, again+" --uninstall, for one of the two"
	case st.Trust == setup.TrustMissing:
		f.Status, f.Hint = statusWarning, "start codex and trust the hooks with /hooks"
	}
	return f
}

// lastSeen returns how to tell when an event of a host last came: into the
// journal, or through it into the store. What cannot be read is for other checks
// to say.
func (d *doctor) lastSeen(ctx context.Context) func(host string) string {
	last := map[string]amber.Time{}
	note := func(host string, at amber.Time) {
		if last[host].Before(at) {
			last[host] = at
		}
	}
	checked := d.seenInJournal(ctx, note)
	checked = d.seenInStore(ctx, note) && checked
	return func(host string) string {
		switch at, ok := last[host]; {
		case ok:
			return d.out.when(at)
		case !checked:
			return "not checked"
		}
		return "never"
	}
}

// seenInJournal notes what is in the journal and reports whether it could be
// read.
func (d *doctor) seenInJournal(ctx context.Context, note func(string, amber.Time)) bool {
	j, err := d.openJournal()
	if err != nil {
		return false
	}
	sessions, err := j.List(ctx, func(journal.Key) (int64, error) { return 0, nil })
	for _, s := range sessions {
		note(s.Host, s.LastSync)
	}
	return err == nil
}

// seenInStore notes the last session of each host and reports whether the
// store could be asked.
func (d *doctor) seenInStore(ctx context.Context, note func(string, amber.Time)) bool {
	c, err := d.openCursors(ctx)
	if err != nil {
		return false
	}
	defer c.Close()
	if c.store == nil { // there is none yet
		return true
	}
	for _, h := range hook.Hosts() {
		page, err := c.store.Store.Sessions.ListSessions(ctx, amber.SessionQuery{Binding: string(h), Limit: 1})
		if err != nil {
			return false
		}
		for _, s := range page.Items {
			note(string(h), s.UpdatedAt)
		}
	}
	return true
}
