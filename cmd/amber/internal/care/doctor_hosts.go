package care

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/capture"
	"github.com/amber-memory/amber/internal/capture/hook/setup"
	"github.com/amber-memory/amber/wire"
)

// checkHosts looks at every agent host that is on this machine, one finding
// each. None of them is a failure of Amber's.
func (a *app) checkHosts(cmd *cobra.Command) (findings []wire.Finding) {
	o, err := capture.SetupOptions(cmd, a.App)
	var all []setup.HostStatus
	if err == nil {
		all, err = setup.Status(o)
	}
	if err != nil {
		return []wire.Finding{{Code: "hosts", Status: wire.FindingNotChecked, Detail: err.Error()}}
	}
	seen := a.lastSeen(cmd.Context())
	for _, st := range all {
		if st.Found || st.Installed {
			findings = append(findings, st.Finding(seen(st.Host)))
		}
	}
	if len(findings) == 0 {
		findings = []wire.Finding{{Code: "hosts", Status: wire.FindingOK, Detail: "no agent host was found"}}
	}
	return findings
}

// lastSeen returns how to tell when an event of a host last came.
func (a *app) lastSeen(ctx context.Context) func(host string) string {
	var last map[string]amber.Time
	at, err := a.Configured()
	if err == nil {
		last, err = at.HostsSeen(ctx)
	}
	return func(host string) string {
		switch at, ok := last[host]; {
		case ok:
			return a.Out.When(at)
		case err != nil:
			return "not checked"
		}
		return "never"
	}
}
