package memory

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/recall/contextblock"
	"github.com/amber-memory/amber/wire"
)

// contextFlags say for whom the block is and how large it may get.
type contextFlags struct {
	cli.IdentityFlags
	maxBytes, sessions int
	explain            bool
	occasion           string
}

func (a *app) contextCommand() *cobra.Command {
	var f contextFlags
	cmd := cli.Verb("context", func(cmd *cobra.Command, args []string) error {
		req, err := a.contextRequest(f, args)
		if err != nil {
			return err
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			if req.Identities, err = a.Identities(ctx, s, f.IdentityFlags); err != nil {
				return err
			}
			block, err := a.Site(s).Context(ctx, req)
			if err != nil {
				return err
			}
			if len(block.Memories) == 0 && block.Decision.Effective {
				defer a.noteOtherNames(ctx, s, f.Project)
			}
			if f.Project == "" && f.occasion != string(wire.OccasionPrompt) {
				if block.Text, err = a.withNotice(ctx, block.Text); err != nil {
					return err
				}
			}
			return a.Out.Show(block, func(w io.Writer) { a.printContext(w, block, f.explain) })
		})
	})
	f.AddNames(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.maxBytes, "max-bytes", wire.DefaultContextBytes, "how large the block may be (512 to 65536)")
	fl.IntVar(&f.sessions, "sessions", 3, "how many recent sessions to tell of")
	fl.StringVar(&f.occasion, "occasion", "", "print what a hook would: start, prompt or compaction")
	fl.BoolVar(&f.explain, "explain", false, "show why each passage is in the block")
	return cmd
}

func (a *app) contextRequest(f contextFlags, args []string) (r wire.ContextRequest, err error) {
	if f.maxBytes < 1 {
		return r, cli.Usage("--max-bytes is %d, want more than 0", f.maxBytes)
	}
	if f.sessions < 0 {
		return r, cli.Usage("--sessions is %d, want 0 or more", f.sessions)
	}
	r.MaxBytes, r.Sessions, r.Explain, r.Occasion = f.maxBytes, f.sessions, f.explain, wire.Occasion(f.occasion)
	if r.Sessions == 0 {
		r.Sessions = -1 // in a request 0 means the default
	}
	if len(args) > 0 {
		r.Goal, err = a.Text(args[0], amber.MaxQueryBytes)
	}
	return r, err
}

// withNotice adds to a block that the folder waits for its user.
func (a *app) withNotice(ctx context.Context, text string) (string, error) {
	dir, err := a.Directory()
	if err != nil || a.Project(ctx, dir).Asks == "" {
		return text, nil
	}
	return contextblock.WithNotice(text, a.Random)
}

// printContext prints the block and nothing else to w, so that it can go
// straight into a prompt; the explanation goes to stderr.
func (a *app) printContext(w io.Writer, b wire.ContextBlock, explain bool) {
	io.WriteString(w, b.Text)
	switch {
	case !b.Decision.Effective:
		a.Out.Note("nothing is recalled: %s", b.Decision.BlockedReason)
	case b.Text == "":
		a.Out.Note("nothing to say")
	case b.Omitted > 0:
		a.Out.Note("%s did not fit into --max-bytes", words.Count(b.Omitted, "memory", "memories"))
	}
	if len(b.Cut) > 0 {
		a.Out.Note("%s cut to fit into --max-bytes; amber get shows the whole of %s", words.Count(len(b.Cut), "memory was", "memories were"), cli.ShortID(string(b.Cut[0])))
	}
	if !explain {
		return
	}
	for _, i := range b.Items {
		fmt.Fprintf(a.Stderr, "%s %s: %s\n", i.Layer, cli.ShortID(i.Owner), i.Why)
	}
	for _, h := range b.Memories {
		fmt.Fprintf(a.Stderr, "%.2f  %s  %s\n", h.Score, cli.ShortID(string(h.ID)), cli.OneLine(h.Snippet, 90))
		if h.Why != nil {
			printWhy(a.Stderr, h.Why)
		}
	}
}
