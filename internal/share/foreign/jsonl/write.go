package jsonl

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// write writes everything, memories first.
func write(ctx context.Context, c foreign.Contents, o foreign.WriteOptions, to foreign.Output) error {
	return foreign.WriteFile(to, "", func(w *bufio.Writer) error { return writeAll(ctx, c, o, w) })
}

func writeAll(ctx context.Context, c foreign.Contents, o foreign.WriteOptions, w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	if err := out.Encode(header{Export: "export", Version: version, At: o.At, Agent: o.Agent, Project: o.Project}); err != nil {
		return err
	}
	err := c.Memories(ctx, func(m amber.Memory) error {
		versions, err := c.Versions(ctx, m.ID)
		for _, v := range versions {
			if err == nil {
				err = out.Encode(line{Memory: &v})
			}
		}
		return err
	})
	if err == nil {
		err = c.Relations(ctx, func(r amber.Relation) error { return out.Encode(line{Relation: &r}) })
	}
	if err == nil {
		err = c.Sessions(ctx, func(s amber.Session, turns func(func(amber.Turn) error) error) error {
			return writeSession(out, s, turns)
		})
	}
	if err != nil {
		return err
	}
	return c.Notes(ctx, func(n amber.Note) error {
		return out.Encode(line{Note: &note{Name: n.Name, Content: n.Content, UpdatedAt: n.UpdatedAt}})
	})
}

func writeSession(out *json.Encoder, s amber.Session, turns func(func(amber.Turn) error) error) error {
	l := session{Session: s}
	if err := turns(func(amber.Turn) error { l.Turns++; return nil }); err != nil {
		return err
	}
	if err := out.Encode(line{Session: &l}); err != nil {
		return err
	}
	return turns(func(t amber.Turn) error { return out.Encode(line{Turn: &t}) })
}
