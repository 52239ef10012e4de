package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/agekey"
	"github.com/amber-memory/amber/keyring"
)

// ownKey is the JSON of key show.
type ownKey struct {
	KeyID    amber.KeyID `json:"key_id"`
	SeedFile string      `json:"seed_file"`
	// Recipients are what others encrypt to so that this home can read it.
	Recipients []string `json:"recipients"`
}

func (a *app) keyShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Show the key of this home",
		Long: `Show the name of the key that signs here, which is what others trust, and, where this home
has encrypted something, the age recipients that it can read for.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.lookAtHome()
			if err != nil {
				return err
			}
			key, err := a.ownKey(cmd.Context(), h)
			if err != nil {
				return err
			}
			return a.out.show(key, func(w io.Writer) {
				fmt.Fprintln(w, key.KeyID)
				a.out.fact(w, "seed", key.SeedFile)
				for _, r := range key.Recipients {
					fmt.Fprintln(w, a.out.style(dim, "recipient:"), r) // whole: it is there to be copied
				}
			})
		},
	}
}

// ownKey tells the public side of a home's keys.
func (a *app) ownKey(ctx context.Context, h *home.Home) (ownKey, error) {
	out := ownKey{SeedFile: seedFile(h), Recipients: []string{}}
	signer, err := a.ring(h).Signer(ctx)
	if err != nil {
		return out, err
	}
	out.KeyID = signer.KeyID()
	ids, err := agekey.ReadIdentities(nil, filepath.Join(h.KeysDir(), keyring.AgeIdentityFile))
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return out, err
	}
	for _, id := range ids {
		if r, ok := agekey.RecipientOf(id); ok {
			out.Recipients = append(out.Recipients, r.Text)
		}
	}
	return out, nil
}
