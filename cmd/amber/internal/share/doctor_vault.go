package share

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/timetable"
	"github.com/amber-memory/amber/internal/serve/backup"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/wire"
)

// vaultCode is the check of backups to a vault.
const vaultCode = "vault"

// checkVault reports how the backups of the agent to the vault are doing. It
// does not ask the vault itself. Without a vault it reports nothing.
func (a *app) checkVault(homeDir string, c config.Vault) []wire.Finding {
	if c.URL == "" {
		return nil
	}
	f, err := a.vaultFinding(homeDir, c)
	if err != nil {
		f = wire.Finding{Status: wire.FindingFailed, Detail: err.Error(), Hint: amber.HintOf(err), Kind: amber.KindOf(err)}
	}
	f.Code = vaultCode
	return []wire.Finding{f}
}

func (a *app) vaultFinding(homeDir string, c config.Vault) (f wire.Finding, err error) {
	if err := checkAPIKeyFile(c); err != nil {
		return f, err
	}
	tenant, err := amber.ParseTenantID(a.Global.Tenant)
	agent, err2 := amber.ParseAgentID(a.Global.Agent)
	if err = errors.Join(err, err2); err != nil {
		return f, err
	}
	st, err := backup.In(homeDir).Read(server.AgentName{Tenant: tenant, Agent: agent})
	if err != nil {
		return f, err
	}
	if st.Vault != backup.VaultName(c) { // what is known is about another one
		st = backup.State{DueSince: st.DueSince}
	}
	f = wire.Finding{Status: wire.FindingWarning, Detail: describeBackups(c, st), Hint: "a server of Amber makes it: amber serve"}
	switch late := overdue(c, st, a.Clock()); {
	case st.Failures > 0:
		f.Hint = cmp.Or(st.Hint, "amber vault status")
	case !st.DueSince.IsZero():
	case late != "":
		f.Detail += "; " + late
	default:
		f.Status, f.Hint = wire.FindingOK, ""
	}
	return f, nil
}

// overdue says that a backup should have been made by now: none has been, or the
// last is older than two turns of the schedule. "" when that is not so.
func overdue(c config.Vault, st backup.State, now time.Time) string {
	table, err := timetable.Parse(c.Schedule)
	if err != nil || table.Off() {
		return ""
	}
	if st.Began.IsZero() {
		return "the schedule is " + c.Schedule
	}
	next, ok := st.Began.Time().In(now.Location()), true
	for range 2 {
		if next, ok = table.Next(next); !ok {
			return ""
		}
	}
	if next.After(now) {
		return ""
	}
	return fmt.Sprintf("the schedule is %s, and no server has looked since %s", c.Schedule, st.Began)
}

// automatic reports whether a server is to back up.
func automatic(c config.Vault) bool { return c.Schedule != timetable.Off || c.AfterSession }

// describeBackups says what is known about the backups of an agent.
func describeBackups(c config.Vault, st backup.State) string {
	said := []string{c.URL}
	switch {
	case !st.Success.IsZero():
		said = append(said, "last backup by a server "+st.Success.String())
	case !automatic(c):
		said = append(said, "no automatic backups are configured")
	default:
		said = append(said, "no automatic backup yet")
	}
	if !st.DueSince.IsZero() {
		said = append(said, fmt.Sprintf("one is due since %s", st.DueSince))
	}
	if st.Failures > 0 {
		said = append(said, fmt.Sprintf("failing since %s, last tried %s: %s", st.FailingSince, st.Tried, st.Error))
	}
	return strings.Join(said, "; ")
}

// checkAPIKeyFile checks that the file with the key of a vault is there and no other user can read it. Errors:
// invalid when no file is named and a server is to back up; not_found; refused.
func checkAPIKeyFile(c config.Vault) error {
	const op = "look at key of vault"
	path := c.APIKeyFile
	switch {
	case path == "" && automatic(c):
		return amber.Errorf(amber.KindInvalid, op, "", "vault.api_key_file is not set, and the schedule asks a server to back up").
			WithHint("write the key of the vault into a file for its owner alone, and name that in vault.api_key_file")
	case path == "":
		return nil // it is given on the command line
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return amber.Errorf(amber.KindNotFound, op, path, "the file does not exist").WithHint("write the key of the vault into it, or change vault.api_key_file")
	case err != nil:
		return &amber.Error{Op: op, Kind: amber.KindRefused, ID: path, Err: err}
	case !info.Mode().IsRegular():
		return amber.Errorf(amber.KindRefused, op, path, "want a regular file, found a folder or a device")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return amber.Errorf(amber.KindRefused, op, path, "the mode is %04o, want access for the owner only", info.Mode().Perm()).WithHint("chmod 600 " + path)
	}
	return nil
}
