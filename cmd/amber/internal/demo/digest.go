package demo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
)

// fingerprint is a digest of everything an agent knows, and what that was.
type fingerprint struct {
	memories, turns, notes int
	sum                    string
}

func (d fingerprint) String() string {
	return strings.Join([]string{words.Count(d.memories, "memory", "memories"), words.Count(d.turns, "turn", "turns"), words.Count(d.notes, "note", "notes")}, ", ")
}

// digest asks for every memory, turn and note, and returns the SHA-256 of the
// answers. A restore may count revisions on, so stamps are not part of it.
func (d *Demo) digest(ctx context.Context) (out fingerprint, err error) {
	sum := sha256.New()
	e := json.NewEncoder(sum)
	memories, err := d.memories(ctx)
	if err != nil {
		return out, err
	}
	for _, m := range memories {
		m.Revision, m.Origin = 0, amber.Origin{}
		if err := e.Encode(m); err != nil {
			return out, err
		}
	}
	var turns amber.Page[amber.Turn]
	if err := d.ask(ctx, &turns, "turn", "list", "--session", session, "-n", fmt.Sprint(amber.MaxPageSize)); err != nil {
		return out, err
	}
	if err := e.Encode(turns.Items); err != nil {
		return out, err
	}
	var notes amber.Page[amber.Note]
	if err := d.ask(ctx, &notes, "note", "list"); err != nil {
		return out, err
	}
	for _, n := range notes.Items {
		text, err := d.quietly(ctx, "", "note", "show", n.Name)
		if err != nil {
			return out, err
		}
		if _, err := io.WriteString(sum, n.Name+"\x00"+string(text)+"\x00"); err != nil {
			return out, err
		}
	}
	return fingerprint{len(memories), len(turns.Items), len(notes.Items), hex.EncodeToString(sum.Sum(nil))}, nil
}

// memories returns every live memory, by id.
func (d *Demo) memories(ctx context.Context) ([]amber.Memory, error) {
	var all []amber.Memory
	args := []string{"list", "--all", "-n", fmt.Sprint(amber.MaxPageSize)}
	for {
		var page amber.Page[amber.Memory]
		if err := d.ask(ctx, &page, args...); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Next == "" {
			break
		}
		args = append(args[:4:4], "--cursor", string(page.Next))
	}
	slices.SortFunc(all, func(a, b amber.Memory) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all, nil
}

// ask runs a command with --json and reads its answer.
func (d *Demo) ask(ctx context.Context, into any, args ...string) error {
	out, err := d.quietly(ctx, "", append(args, "--json")...)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, into)
}
