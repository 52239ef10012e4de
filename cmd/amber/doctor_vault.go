package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/timetable"
	"github.com/amber-memory/amber/registry"
)

// vaultCode is the check of backups to a vault.
const vaultCode = "vault"

// checkVault tells how the backups of the agent to the vault are doing. The
// vault itself is not asked. Without one nothing is told.
func (d *doctor) checkVault(homeDir string, c registry.Vault) {
	if c.URL == "" {
		return
	}
	if err := checkAPIKeyFile(c.APIKeyFile); err != nil {
		d.judge(vaultCode, err, "")
		return
	}
	tenant, err := amber.ParseTenantID(d.global.tenant)
	agent, err2 := amber.ParseAgentID(d.global.agent)
	if err = errors.Join(err, err2); err != nil {
		d.judge(vaultCode, err, "")
		return
	}
	st, err := backupsOf(homeDir).read(agentKey{tenant, agent})
	if err != nil {
		d.judge(vaultCode, err, "")
		return
	}
	if st.Vault != vaultName(c) { // what is known is about another one
		st = backupState{DueSince: st.DueSince}
	}
	detail := describeBackups(c, st)
	switch {
	case st.Failures > 0:
		d.warn(vaultCode, "amber vault status", "%s", detail)
	case !st.DueSince.IsZero():
		d.warn(vaultCode, "a server of Amber makes it: amber serve", "%s", detail)
	default:
		d.judge(vaultCode, nil, "%s", detail)
	}
}

// describeBackups says what is known about the backups of an agent.
func describeBackups(c registry.Vault, st backupState) string {
	said := []string{c.URL}
	switch {
	case !st.Success.IsZero():
		said = append(said, "last backup by a server "+st.Success.String())
	case c.Schedule == timetable.Off && !c.AfterSession:
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

// checkAPIKeyFile looks whether the key of a vault is there and nobody else can
// read it. Errors: not_found; refused.
func checkAPIKeyFile(path string) error {
	const op = "look at key of vault"
	if path == "" {
		return nil // some are asked for on the command line
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e := amber.Errorf(amber.KindNotFound, op, path, "there is no such file")
		e.Hint = "write the key of the vault into it, or change vault.api_key_file"
		return e
	case err != nil:
		return &amber.Error{Op: op, Kind: amber.KindRefused, ID: path, Err: err}
	case !info.Mode().IsRegular():
		return amber.Errorf(amber.KindRefused, op, path, "it is no regular file")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		e := amber.Errorf(amber.KindRefused, op, path, fmt.Sprintf("others can reach it, its mode is %04o", info.Mode().Perm()))
		e.Hint = "chmod 600 " + path
		return e
	}
	return nil
}
