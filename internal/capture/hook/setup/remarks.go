package setup

import (
	"strings"

	"github.com/amber-memory/amber/wire"
)

// InstalledIn lists the scopes in which the host is set up.
func (st HostStatus) InstalledIn() string {
	var scopes []string
	for _, sc := range st.Scopes {
		if sc.Installed {
			scopes = append(scopes, string(sc.Scope))
		}
	}
	if len(scopes) == 0 {
		return "no"
	}
	return strings.Join(scopes, ", ")
}

// Remarks say what is wrong with how the host is set up, the worst first.
func (st HostStatus) Remarks() (out []string) {
	for _, sc := range st.Scopes {
		switch {
		case sc.Error != "":
			out = append(out, sc.Error)
		case sc.Missing != "":
			out = append(out, "the hooks run "+sc.Missing+", which is not there")
		case sc.Outdated:
			out = append(out, "the hooks in "+sc.Path+" are not those of this Amber")
		case sc.Through != "":
			out = append(out, "through the hooks of "+sc.Through)
		}
	}
	switch st.Trust {
	case TrustMissing:
		out = append(out, "no note of trust was found for some of the hooks, and Codex skips what it does not trust; open /hooks in Codex")
	case TrustUnknown:
		out = append(out, "trust was not checked; open /hooks in Codex")
	case TrustRecorded:
		out = append(out, "Codex has a note of trust for every hook; whether it still fits was not checked")
	}
	return append(out, st.Notes...)
}

// Finding is what a doctor says about the host. Seen tells when its last event came. No
// finding is a failure of Amber.
func (st HostStatus) Finding(seen string) wire.Finding {
	f := wire.Finding{Code: "hosts", Status: wire.FindingOK}
	said := []string{st.Host + ": "}
	switch {
	case !st.Installed:
		said[0] += "found, not set up"
	default:
		said[0] += "set up for " + st.InstalledIn()
		said = append(said, "last event "+seen)
	}
	f.Detail = strings.Join(append(said, st.Remarks()...), "; ")
	again := "amber setup " + st.Host
	for _, sc := range st.Scopes {
		if sc.Scope == Project {
			again += " --scope project"
		}
		switch {
		case sc.Error != "":
			f.Status, f.Hint = wire.FindingWarning, "correct the file"
			return f
		case sc.Missing != "" || sc.Outdated:
			f.Status, f.Hint = wire.FindingWarning, again
			return f
		}
	}
	switch {
	case st.Doubled:
		f.Status, f.Hint = wire.FindingWarning, again+" --uninstall, for one of the two"
	case st.Trust == TrustMissing:
		f.Status, f.Hint = wire.FindingWarning, "start codex and trust the hooks with /hooks"
	}
	return f
}
