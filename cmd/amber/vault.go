package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
)

func (a *app) vaultCommand() *cobra.Command {
	var f vaultFlags
	c := family("vault", "Back documents up to a small vault of texts, and bring them back",
		a.vaultBackupCommand(&f), a.vaultRestoreCommand(&f), a.vaultListCommand(&f), a.vaultLatestCommand(&f),
		a.vaultPruneCommand(&f), a.vaultDeleteCommand(&f), a.vaultStatusCommand(&f), a.vaultExportMergeCommand(&f))
	c.Long = `A vault keeps a few megabytes of text for an agent, over HTTP: that of The Colony, or that of any
served Amber, which has one for each agent under /api/v1. A backup is a snapshot of documents, by
default the notes, in the form colony-memory/1, which colony-memory reads, too.

Four outcomes are kept apart by the exit code: there is no snapshot (3), the vault could not be
asked (7), it said no or is full (6), what is there is not what was put there (5). Only the first
means that there is nothing to restore; a key or another file that is missing here is 2.

The key of the vault is read from a file for its owner alone, - for stdin. Snapshots of other agents
than the default one have a label of their own unless --label says otherwise. docs/vault.md tells more.`
	f.add(c)
	a.addIdentityFlag(c)
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

	reads bool         // nothing is backed up: no key is made
	key   string       // of the vault, when it came on stdin
	late  *lateWitness // told of what is seen instead of the home's own; may be nil
}

// signWithHome is what --sign means without a file.
const signWithHome = "home"

func (f *vaultFlags) add(c *cobra.Command) {
	fl := c.PersistentFlags()
	fl.StringVar(&f.url, "url", "", "the vault, as https://example.org/api/v1 (default vault.url)")
	fl.StringVar(&f.keyFile, "api-key-file", "", "the file with the key of the vault, - for stdin (default vault.api_key_file)")
	fl.StringVar(&f.label, "label", "", "the name under which snapshots are kept (default vault.label)")
	fl.BoolVar(&f.wait, "wait", false, "wait as long as the vault asks for, not 30 s at most")
	fl.StringArrayVar(&f.trust, "trust", nil, "let the signatures of this did:key count this once (repeat)")
	fl.BoolVar(&f.requireSigned, "require-signed", false, "refuse what no trusted key has signed")
	fl.BoolVar(&f.tolerant, "tolerant", false, "do not check declared fields, for snapshots of other tools")
	fl.BoolVar(&f.noVerify, "no-verify", false, "do not check the signature")
}

// check refuses flags that say nothing, or the opposite of each other.
func (f *vaultFlags) check(cmd *cobra.Command) error {
	for _, name := range []string{"url", "api-key-file", "label", "dir", "snapshot", "sign"} {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed && flag.Value.String() == "" {
			return usage("--%s is empty", name)
		}
	}
	switch {
	case f.requireSigned && f.noVerify:
		return usage("--require-signed and --no-verify do not go together")
	case f.sign != "" && f.noSign:
		return usage("--sign and --no-sign do not go together")
	}
	return nil
}

// withVault opens the agent as far as the verb needs it, and its vault.
func (a *app) withVault(cmd *cobra.Command, f *vaultFlags, need liveAgent, fn func(ctx context.Context, s *opened, v *colony.Vault) error) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	ctx := cmd.Context()
	s, err := a.openFrozen(ctx, need)
	if err != nil {
		return ofThisSide(err)
	}
	if f.keyFile == stdinKey {
		f.key, err = a.vaultKey(stdinKey)
	}
	var v *colony.Vault
	if err == nil {
		v, err = a.openVault(ctx, s, *f)
	}
	if err = ofThisSide(err); err == nil {
		err = a.nameLabels(ctx, v, fn(ctx, s, v))
	}
	return errors.Join(err, s.Close())
}

// maxLabels is how many labels an error names.
const maxLabels = 20

// nameLabels adds to an error that says there is nothing what labels there is
// something of: whoever asked may have meant one of those, and must not start
// empty then.
func (a *app) nameLabels(ctx context.Context, v *colony.Vault, err error) error {
	var e *amber.Error
	if amber.KindOf(err) != amber.KindNotFound || !errors.As(err, &e) {
		return err
	}
	labels, listErr := v.Labels(ctx)
	labels = slices.DeleteFunc(labels, func(l string) bool { return l == v.Label() })
	if listErr != nil || len(labels) == 0 {
		return err // that there is nothing under the label is known, and no more
	}
	named := strings.Join(labels[:min(len(labels), maxLabels)], ", ")
	if more := len(labels) - maxLabels; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	told := *e
	told.Hint = "the vault has snapshots under other labels, for --label: " + named
	return &told
}

// withVaultOnly is withVault for verbs that back nothing up: neither a key nor
// an agent is made.
func (a *app) withVaultOnly(cmd *cobra.Command, f *vaultFlags, fn func(ctx context.Context, s *opened, v *colony.Vault) error) error {
	f.reads = true
	return a.withVault(cmd, f, mayBeAbsent, fn)
}

// ofThisSide is an error from here, not from the vault. That something is not
// found here is invalid: only the vault itself may say not_found, for that means
// that there is no memory.
func ofThisSide(err error) error {
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
		return "", usage("--snapshot and %q name two snapshots", oneLine(args[0], 60))
	case len(args) == 1:
		flag = args[0]
	}
	if flag == "" && len(args) == 0 {
		return "", nil
	}
	return colony.ParseSnapshotID(flag)
}
