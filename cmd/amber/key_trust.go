package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/keyring"
)

func (a *app) keyTrustCommand() *cobra.Command {
	var comment string
	cmd := &cobra.Command{
		Use:   "trust DIDKEY",
		Short: "Let the signatures of a key count",
		Long: `Let the signatures of a key count here. Whoever has it can sign what this home restores and
imports, so find out whose it is in another way than by the bundle it came with. Trusting a
key again changes its comment.`,
		Example: `  amber key trust did:key:z6Mkf5rGMoatrSj1f4CyvuHBeXJELe9RPdzo2PKGNCKVtZxP --comment "laptop of Ada"`,
		Args:    exactly("a did:key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := amber.ParseKeyID(args[0])
			if err != nil {
				return err
			}
			h, _, err := a.openHome()
			if err != nil {
				return err
			}
			if err := a.ring(h).Trust(cmd.Context(), key, comment); err != nil {
				return err
			}
			known, err := findKey(cmd.Context(), a.ring(h), key)
			if err != nil {
				return err
			}
			return a.out.show(known, func(w io.Writer) { fmt.Fprintln(w, "trusted", known.KeyID) })
		},
	}
	cmd.Flags().StringVar(&comment, "comment", "", "whose key it is")
	return cmd
}

// findKey returns a key of the list. Errors: not_found.
func findKey(ctx context.Context, ring *keyring.Ring, key amber.KeyID) (keyring.KnownKey, error) {
	keys, err := ring.Known(ctx)
	if err != nil {
		return keyring.KnownKey{}, err
	}
	for _, k := range keys {
		if k.KeyID == key {
			return k, nil
		}
	}
	return keyring.KnownKey{}, noTrusted(key)
}

func noTrusted(key amber.KeyID) error {
	e := amber.Errorf(amber.KindNotFound, "untrust key", string(key), "it is not on the list of trusted keys")
	e.Hint = "amber key list"
	return e
}

// untrusting is the JSON of key untrust.
type untrusting struct {
	KeyID     amber.KeyID `json:"key_id"`
	Comment   string      `json:"comment"`
	Untrusted bool        `json:"untrusted"`
	DryRun    bool        `json:"dry_run"`
}

func (a *app) keyUntrustCommand() *cobra.Command {
	var yes, dryRun bool
	cmd := &cobra.Command{
		Use:   "untrust DIDKEY",
		Short: "Let the signatures of a key count no more",
		Long: `Let the signatures of a key count no more. What it has signed stays where it is; with
snapshot.require_signed it cannot be restored or imported any more; what was imported before is
signed by this home, and stays. It asks first; without a
terminal it needs --yes.`,
		Args: exactly("a did:key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := amber.ParseKeyID(args[0])
			if err != nil {
				return err
			}
			h, err := a.lookAtHome()
			if err != nil {
				return err
			}
			ring := a.ring(h)
			plan, err := planUntrust(cmd.Context(), ring, key)
			if err != nil {
				return err
			}
			if plan.DryRun = dryRun; dryRun {
				return a.showUntrust(plan, "would no longer trust")
			}
			if err := a.confirm(yes, "untrust "+plan.String()); err != nil {
				return err
			}
			if err := ring.Untrust(cmd.Context(), key); err != nil {
				return err
			}
			plan.Untrusted = true
			return a.showUntrust(plan, "no longer trusted:")
		},
	}
	addPlanFlags(cmd, &yes, &dryRun, "tell what would change and change nothing")
	return cmd
}

// planUntrust looks the key up, so that nobody is asked about one that is not
// there.
func planUntrust(ctx context.Context, ring *keyring.Ring, key amber.KeyID) (untrusting, error) {
	trusted, err := ring.Trusted(ctx)
	if err != nil {
		return untrusting{}, err
	}
	for _, t := range trusted {
		if t.KeyID == key {
			return untrusting{KeyID: key, Comment: t.Comment}, nil
		}
	}
	return untrusting{}, noTrusted(key)
}

// String names the key.
func (u untrusting) String() string {
	if u.Comment == "" {
		return string(u.KeyID)
	}
	return fmt.Sprintf("%s (%s)", u.KeyID, oneLine(u.Comment, 60))
}

func (a *app) showUntrust(u untrusting, did string) error {
	return a.out.show(u, func(w io.Writer) { fmt.Fprintln(w, did, u) })
}
