package freeze

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/wire/sign"
)

func (a *app) keyCommand() *cobra.Command {
	c := cli.Family("key", "Manage the key that signs and the keys that are trusted",
		a.keyNewCommand(), a.keyShowCommand(), a.keyListCommand(), a.keyTrustCommand(), a.keyUntrustCommand(), a.keySignCommand(), a.keyVerifyCommand())
	c.Long = `Snapshots, bundles and what sync exports are signed with the ed25519 key of this home, whose name is
a did:key. Signatures of this key and of trusted keys count here; with snapshot.require_signed
nothing else is restored or imported, with sync.require_signed nothing else is imported from a
shared folder.

The key is a file, keys/signing.seed in the home. Anybody who has this file signs as this home, and
a lost file cannot be made again.`
	return c
}

// lookAtRing is the ring of the home as it is: nothing is made.
func (a *app) lookAtRing() (*keyring.Ring, error) {
	h, err := a.LookAtHome()
	if err != nil {
		return nil, err
	}
	return a.Ring(h), nil
}

// openRing is the ring of the home, which is made when there is none.
func (a *app) openRing() (*keyring.Ring, error) {
	h, _, err := a.OpenHome()
	if err != nil {
		return nil, err
	}
	return a.Ring(h), nil
}

func (a *app) keyListCommand() *cobra.Command {
	var jsonl bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the keys whose signatures count",
		Long:  "List the keys whose signatures count here: this home's own and the trusted ones.",
		Args:  cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ring, err := a.lookAtRing()
			if err != nil {
				return err
			}
			return cli.Listing(ring.Known(cmd.Context()))(a.App, jsonl, printKeys)
		},
	}
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

func printKeys(w io.Writer, keys []keyring.KnownKey) {
	cli.TableOf(w, []string{"KEY", "STANDING", "COMMENT"}, keys, func(k keyring.KnownKey) []string {
		return []string{string(k.KeyID), string(k.Standing), k.Comment}
	})
}

// ownKey is the JSON of key show.
type ownKey struct {
	KeyID    sign.KeyID `json:"key_id"`
	SeedFile string     `json:"seed_file"`
	// Recipients are what others encrypt to so that this home can read it.
	Recipients []string `json:"recipients"`
}

func (a *app) keyShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Show the key of this home",
		Long: `Show the name of the key that signs here, which others can trust, and the age recipients of this home,
if it has encrypted something.`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ring, err := a.lookAtRing()
			if err != nil {
				return err
			}
			return cli.Answer(publicKeys(cmd.Context(), ring))(a.Out, func(w io.Writer, key ownKey) {
				fmt.Fprintln(w, key.KeyID)
				a.Out.Fact(w, "seed", key.SeedFile)
				for _, r := range key.Recipients {
					fmt.Fprintln(w, a.Out.Style(cli.Dim, "recipient:"), r) // whole, to be copied
				}
			})
		},
	}
}

func publicKeys(ctx context.Context, ring *keyring.Ring) (ownKey, error) {
	signer, err := ring.Signer(ctx)
	if err != nil {
		return ownKey{}, err
	}
	recipients, err := ring.OwnRecipients()
	return ownKey{KeyID: signer.KeyID(), SeedFile: ring.SeedFile(), Recipients: recipients}, err
}
