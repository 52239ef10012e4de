package freeze

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/wire/sign"
)

// newKey is the JSON of key new.
type newKey struct {
	KeyID    sign.KeyID `json:"key_id"`
	Created  bool       `json:"created"` // false: it existed
	SeedFile string     `json:"seed_file"`
}

func (a *app) keyNewCommand() *cobra.Command {
	var file string
	cmd := cli.Verb("new", func(cmd *cobra.Command, _ []string) error {
		adopt := cmd.Flags().Changed("seed-file")
		if adopt && file == "" {
			return cli.Usage("--seed-file is empty")
		}
		ring, err := a.openRing()
		if err != nil {
			return err
		}
		return cli.Answer(a.makeKey(cmd.Context(), ring, file))(a.Out, func(w io.Writer, key newKey) {
			fmt.Fprintln(w, key.KeyID)
			a.Out.Note("%s", describeKey(key, adopt))
		})
	})
	cmd.Flags().StringVar(&file, "seed-file", "", "adopt the seed in this file")
	return cmd
}

// makeKey makes the key of a home, or adopts that of a file.
func (a *app) makeKey(ctx context.Context, ring *keyring.Ring, file string) (newKey, error) {
	out := newKey{SeedFile: ring.SeedFile()}
	if file == "" {
		signer, created, err := ring.Make(ctx)
		if err == nil {
			out.KeyID, out.Created = signer.KeyID(), created
		}
		return out, err
	}
	path, err := a.Absolute(file)
	if err != nil {
		return out, err
	}
	_, before := ring.Signer(ctx)
	out.Created = amber.KindOf(before) == amber.KindNotFound
	out.KeyID, err = ring.Adopt(ctx, path)
	return out, err
}

func describeKey(k newKey, adopted bool) string {
	switch {
	case !k.Created:
		return "this home has a key already: " + k.SeedFile
	case adopted:
		return "adopted the key; its seed is now in " + k.SeedFile
	}
	return "made a key; keep a copy of its seed in a safe place: " + k.SeedFile
}
