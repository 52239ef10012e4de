package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/keyring"
)

// knownKey is one item of key list.
type knownKey struct {
	KeyID    amber.KeyID    `json:"key_id"`
	Standing amber.Standing `json:"standing"` // own or trusted
	Comment  string         `json:"comment"`
}

func (a *app) keyListCommand() *cobra.Command {
	var jsonl bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the keys whose signatures count",
		Long:  "List the keys whose signatures count here: this home's own and those that were trusted.",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.lookAtHome()
			if err != nil {
				return err
			}
			keys, err := knownKeys(cmd.Context(), a.ring(h))
			if err != nil {
				return err
			}
			return showItems(a, jsonl, amber.Page[knownKey]{Items: keys}, printKeys)
		},
	}
	addJSONL(cmd, &jsonl)
	return cmd
}

// knownKeys returns the own key first; on the list, too, it stays the own one.
func knownKeys(ctx context.Context, ring *keyring.Ring) ([]knownKey, error) {
	var keys []knownKey
	signer, err := ring.Signer(ctx)
	switch amber.KindOf(err) {
	case "":
		keys = append(keys, knownKey{KeyID: signer.KeyID(), Standing: amber.StandingOwn})
	case amber.KindNotFound:
	default:
		return nil, err
	}
	trusted, err := ring.Trusted(ctx)
	for _, t := range trusted {
		if len(keys) > 0 && keys[0].KeyID == t.KeyID {
			keys[0].Comment = t.Comment
			continue
		}
		keys = append(keys, knownKey{KeyID: t.KeyID, Standing: amber.StandingTrusted, Comment: t.Comment})
	}
	return keys, err
}

func printKeys(w io.Writer, keys []knownKey) {
	rows := make([][]string, len(keys))
	for i, k := range keys {
		rows[i] = []string{string(k.KeyID), string(k.Standing), k.Comment}
	}
	table(w, []string{"KEY", "STANDING", "COMMENT"}, rows)
}
