package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
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

// lastSeen returns how to tell when the journal last took in an event of a
// host. That a journal cannot be read is for other checks to say.
func (d *doctor) lastSeen(ctx context.Context) func(host string) string {
	unknown := func(string) string { return "not checked" }
	j, err := d.openJournal()
	if err != nil {
		return unknown
	}
	sessions, err := j.List(ctx, func(journal.Key) (int64, error) { return 0, nil })
	if err != nil {
		return unknown
	}
	last := map[string]amber.Time{}
	for _, s := range sessions {
		if s.LastSync.Time().After(last[s.Host].Time()) {
			last[s.Host] = s.LastSync
		}
	}
	return func(host string) string {
		if at, ok := last[host]; ok {
			return d.out.when(at)
		}
		return "none in the journal"
	}
}
