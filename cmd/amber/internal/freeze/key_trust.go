package freeze

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/wire/sign"
)

func (a *app) keyTrustCommand() *cobra.Command {
	var comment string
	cmd := cli.Verb("trust", func(cmd *cobra.Command, args []string) error {
		if err := a.OwnerOnly("trust key"); err != nil {
			return err
		}
		key, err := sign.ParseKeyID(args[0])
		if err != nil {
			return err
		}
		ring, err := a.openRing()
		if err != nil {
			return err
		}
		if err := ring.Trust(cmd.Context(), key, comment); err != nil {
			return err
		}
		known, err := ring.Known(cmd.Context())
		if err != nil {
			return err
		}
		i := slices.IndexFunc(known, func(k keyring.KnownKey) bool { return k.KeyID == key })
		return a.Out.Show(known[i], func(w io.Writer) { fmt.Fprintln(w, "trusted", key) })
	})
	cmd.Flags().StringVar(&comment, "comment", "", "whose key it is")
	return cmd
}

// untrusting is the JSON of key untrust.
type untrusting struct {
	KeyID     sign.KeyID `json:"key_id"`
	Comment   string     `json:"comment"`
	Untrusted bool       `json:"untrusted"`
	DryRun    bool       `json:"dry_run"`
}

func (a *app) keyUntrustCommand() *cobra.Command {
	var yes, dryRun bool
	cmd := cli.Verb("untrust", func(cmd *cobra.Command, args []string) error {
		key, err := sign.ParseKeyID(args[0])
		if err != nil {
			return err
		}
		ring, err := a.lookAtRing()
		if err != nil {
			return err
		}
		trusted, err := ring.FindTrusted(cmd.Context(), key)
		if err != nil {
			return err
		}
		plan := untrusting{KeyID: key, Comment: trusted.Comment, DryRun: dryRun}
		if dryRun {
			return a.showUntrust(plan, "would no longer trust")
		}
		if err := a.Confirm(yes, "untrust "+plan.String()); err != nil {
			return err
		}
		if err := ring.Untrust(cmd.Context(), key); err != nil {
			return err
		}
		plan.Untrusted = true
		return a.showUntrust(plan, "no longer trusted:")
	})
	cli.AddPlanFlags(cmd, &yes, &dryRun, "show what would change and change nothing")
	return cmd
}

// String names the key.
func (u untrusting) String() string {
	if u.Comment == "" {
		return string(u.KeyID)
	}
	return fmt.Sprintf("%s (%s)", u.KeyID, cli.OneLine(u.Comment, 60))
}

func (a *app) showUntrust(u untrusting, did string) error {
	return a.Out.Show(u, func(w io.Writer) { fmt.Fprintln(w, did, u) })
}
