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
	return cli.Family("key",
		a.keyNewCommand(), a.keyShowCommand(), a.keyListCommand(), a.keyTrustCommand(), a.keyUntrustCommand(), a.keySignCommand(), a.keyVerifyCommand())
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
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		ring, err := a.lookAtRing()
		if err != nil {
			return err
		}
		return cli.Listing(ring.Known(cmd.Context()))(a.App, jsonl, printKeys)
	})
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
	return cli.Verb("show", func(cmd *cobra.Command, _ []string) error {
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
	})
}

func publicKeys(ctx context.Context, ring *keyring.Ring) (ownKey, error) {
	signer, err := ring.Signer(ctx)
	if err != nil {
		return ownKey{}, err
	}
	recipients, err := ring.OwnRecipients()
	return ownKey{KeyID: signer.KeyID(), SeedFile: ring.SeedFile(), Recipients: recipients}, err
}
