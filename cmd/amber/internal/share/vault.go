package share

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/share/colony"
)

func (a *app) vaultCommand() *cobra.Command {
	var f vaultFlags
	c := cli.Family("vault",
		a.vaultBackupCommand(&f), a.vaultRestoreCommand(&f), a.vaultListCommand(&f), a.vaultLatestCommand(&f),
		a.vaultPruneCommand(&f), a.vaultDeleteCommand(&f), a.vaultStatusCommand(&f), a.vaultExportMergeCommand(&f))
	f.add(c)
	a.AddIdentityFlag(c)
	return c
}

// vaultFlags say which vault is used, and how. The zero value is what is
// configured.
type vaultFlags struct {
	url, keyFile, label string
	wait                bool // as long as the vault asks for

	trust         []string // did:keys, beside those of the home
	requireSigned bool
	tolerant      bool
	noVerify      bool

	sign       string   // a file with a seed, or signWithHome; "" as configured
	noSign     bool     // though vault.sign is true
	recipients []string // beside those that are configured

	reads bool                    // nothing is backed up: no key is made
	key   string                  // the API key, when it came on stdin
	seen  *colony.DeferredWitness // stands before the home's witness; may be nil
}

// signWithHome is what --sign means without a file.
const signWithHome = "home"

func (f *vaultFlags) add(c *cobra.Command) {
	fl := c.PersistentFlags()
	fl.StringVar(&f.url, "url", "", "the vault, as https://example.org/api/v1 (default vault.url)")
	fl.StringVar(&f.keyFile, "api-key-file", "", "the file with the API key of the vault, - for stdin (default vault.api_key_file)")
	fl.StringVar(&f.label, "label", "", "the name under which snapshots are kept (default vault.label)")
	fl.BoolVar(&f.wait, "wait", false, "wait as long as the vault asks for, not 30 s at most")
	fl.StringArrayVar(&f.trust, "trust", nil, "trust the signatures of this did:key for this command (repeat)")
	fl.BoolVar(&f.requireSigned, "require-signed", false, "refuse snapshots that no trusted key has signed")
	fl.BoolVar(&f.tolerant, "tolerant", false, "do not check declared fields, for snapshots of other tools")
	fl.BoolVar(&f.noVerify, "no-verify", false, "do not check the signature")
}

// check refuses flags that are empty or contradict each other.
func (f *vaultFlags) check(cmd *cobra.Command) error {
	for _, name := range []string{"url", "api-key-file", "label", "dir", "snapshot", "sign"} {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed && flag.Value.String() == "" {
			return cli.Usage("--%s is empty", name)
		}
	}
	switch {
	case f.requireSigned && f.noVerify:
		return cli.Usage("--require-signed and --no-verify exclude each other")
	case f.sign != "" && f.noSign:
		return cli.Usage("--sign and --no-sign exclude each other")
	}
	return nil
}

// withVault opens the agent as far as the verb needs it, and its vault.
func (a *app) withVault(cmd *cobra.Command, f *vaultFlags, need cli.LiveAgent, fn func(ctx context.Context, s *cli.Opened, v *colony.Vault) error) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	ctx := cmd.Context()
	s, err := a.OpenFrozen(ctx, need)
	if err != nil {
		return localError(err)
	}
	if f.keyFile == stdinKey {
		f.key, err = a.vaultKey(stdinKey)
	}
	var v *colony.Vault
	if err == nil {
		v, err = a.openVault(ctx, s, *f)
	}
	if err = localError(err); err == nil {
		err = v.NameLabels(ctx, fn(ctx, s, v))
	}
	return errors.Join(err, s.Close())
}

// withVaultOnly is withVault for verbs that back nothing up: neither a key nor
// an agent is made.
func (a *app) withVaultOnly(cmd *cobra.Command, f *vaultFlags, fn func(ctx context.Context, s *cli.Opened, v *colony.Vault) error) error {
	f.reads = true
	return a.withVault(cmd, f, cli.MayBeAbsent, fn)
}

// localError makes invalid of not_found in an error about this machine: only the
// vault may say not_found, because that means there is no memory.
func localError(err error) error {
	var e *amber.Error
	if !errors.As(err, &e) || e.Kind != amber.KindNotFound {
		return err
	}
	here := *e
	here.Kind = amber.KindInvalid
	return &here
}

// addSnapshotFlag is for verbs about one snapshot.
func addSnapshotFlag(cmd *cobra.Command, id *string, usage string) {
	cmd.Flags().StringVar(id, "snapshot", "", usage)
}

// vaultSnapshot returns the snapshot that an argument or the flag names, "" when
// neither does.
func vaultSnapshot(args []string, flag string) (colony.SnapshotID, error) {
	switch {
	case len(args) == 1 && flag != "" && args[0] != flag:
		return "", cli.Usage("--snapshot and %q name two snapshots", cli.OneLine(args[0], 60))
	case len(args) == 1:
		flag = args[0]
	}
	if flag == "" && len(args) == 0 {
		return "", nil
	}
	return colony.ParseSnapshotID(flag)
}
