package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/hook/setup"
)

// checkHosts looks at every agent host that is on this machine, one finding
// each. None of them is a failure of Amber's.
func (a *app) checkHosts(cmd *cobra.Command) (findings []finding) {
	o, err := a.setupOptions(cmd)
	var all []setup.HostStatus
	if err == nil {
		all, err = setup.Status(o)
	}
	if err != nil {
		return []finding{{Code: "hosts", Status: amber.FindingNotChecked, Detail: err.Error()}}
	}
	seen := a.lastSeen(cmd.Context())
	for _, st := range all {
		if st.Found || st.Installed {
			findings = append(findings, hostFinding(st, seen(st.Host)))
		}
	}
	if len(findings) == 0 {
		findings = []finding{{Code: "hosts", Status: amber.FindingOK, Detail: "no agent host was found"}}
	}
	return findings
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

// lastSeen returns how to tell when an event of a host last came.
func (a *app) lastSeen(ctx context.Context) func(host string) string {
	var last map[string]amber.Time
	at, err := a.configured()
	if err == nil {
		last, err = at.HostsSeen(ctx)
	}
	return func(host string) string {
		switch at, ok := last[host]; {
		case ok:
			return a.out.when(at)
		case err != nil:
			return "not checked"
		}
		return "never"
	}
}
