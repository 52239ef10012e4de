package freeze

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

func (a *app) snapshotListCommand() *cobra.Command {
	var page cli.PageFlags
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		return a.WithSnapshots(cmd, cli.MayBeAbsent, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
			if cmd.Flags().Changed("agent") || cmd.Flags().Changed("tenant") {
				if err := a.known(ctx, s, e); err != nil {
					return err
				}
			}
			return cli.ShowPage(a.App, cmd, page, func(n int, c amber.Cursor) (amber.Page[wire.SnapshotMeta], error) {
				p, err := e.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: s.TenantID(), Agent: s.AgentID(), Limit: n, Cursor: c})
				for i := range p.Items {
					p.Items[i].Skipped = cli.OrEmpty(p.Items[i].Skipped)
				}
				return p, err
			}, a.printSnapshots)
		})
	})
	page.Add(cmd)
	return cmd
}

func (a *app) printSnapshots(w io.Writer, items []wire.SnapshotMeta) {
	cli.TableOf(w, []string{"SNAPSHOT", "CREATED (UTC)", "SIZE", "NEW", "LABEL"}, items, func(m wire.SnapshotMeta) []string {
		if m.Damage != "" {
			return []string{cli.ShortID(string(m.ID)), "?", "?", "?", "DAMAGED: " + m.Damage}
		}
		return []string{
			cli.ShortID(string(m.ID)), m.CreatedAt.Time().Format("2006-01-02 15:04"), cli.ByteSize(m.BytesTotal), cli.ByteSize(m.BytesNew),
			strings.Join(append([]string{cli.OneLine(m.Label, 60)}, snapshotRemarks(m)...), " "),
		}
	})
}

// snapshotRemarks tells in few words what is special about a snapshot.
func snapshotRemarks(m wire.SnapshotMeta) []string {
	var out []string
	for _, is := range []struct {
		so   bool
		word string
	}{{m.Pinned, "[pinned]"}, {m.Encrypted, "[encrypted]"}, {m.SignedBy != "", "[signed]"}, {m.Redacted, "[redacted]"}} {
		if is.so {
			out = append(out, is.word)
		}
	}
	if n := max(m.SkippedCount, len(m.Skipped)); n > 0 {
		out = append(out, fmt.Sprintf("[%d skipped]", n))
	}
	if n := max(m.WarningCount, len(m.Warnings)); n > 0 {
		out = append(out, "["+words.Count(int64(n), "warning", "warnings")+"]")
	}
	return out
}

func (a *app) snapshotShowCommand() *cobra.Command {
	return cli.Verb("show", func(cmd *cobra.Command, args []string) error {
		return a.WithSnapshot(cmd, cli.MayBeAbsent, args[0], func(ctx context.Context, _ *cli.Opened, e cli.SnapshotEngine, ref wire.SnapshotRef) error {
			d, err := e.ShowSnapshot(ctx, ref)
			if err != nil {
				return err
			}
			d.Skipped, d.Parts, d.Sources, d.Checks = cli.OrEmpty(d.Skipped), cli.OrEmpty(d.Parts), cli.OrEmpty(d.Sources), cli.OrEmpty(d.Checks)
			return a.Out.Show(d, func(w io.Writer) { a.printSnapshot(w, d) })
		})
	})
}

// printSnapshot prints a snapshot: what it is called, where it stands, what is
// in it and what is not.
func (a *app) printSnapshot(w io.Writer, d wire.SnapshotDetail) {
	p := a.Out
	if d.Label != "" {
		fmt.Fprintln(w, p.Style(cli.Bold, cli.OneLine(d.Label, wire.MaxLabelBytes)))
	}
	fmt.Fprintln(w, p.Style(cli.Amb, string(d.ID)))
	facts := []string{
		"agent " + string(d.Agent), d.CreatedAt.String(), cli.ByteSize(d.BytesTotal), cli.ByteSize(d.BytesNew) + " new", fmt.Sprintf("fence %.1f ms", d.FenceMS),
	}
	for _, is := range []struct {
		so   bool
		word string
	}{{d.Pinned, "pinned"}, {d.Encrypted, "encrypted"}, {d.Redacted, "redacted"}} {
		if is.so {
			facts = append(facts, is.word)
		}
	}
	fmt.Fprintln(w, p.Style(cli.Dim, cli.Flat(strings.Join(facts, " · "))))
	p.Fact(w, "digest", d.Digest)
	p.Fact(w, "chain", fmt.Sprintf("%d of device %s", d.Counter, d.Device))
	p.Fact(w, "parent", d.Parent)
	p.Fact(w, "git", d.GitOID)
	if c := d.Commit; c != nil {
		p.Fact(w, "commit", cli.OneLine(c.Subject, 200)+", "+cli.OneLine(c.Author, 200)+", "+c.At.String())
	}
	signed := d.SignedBy
	if signed == "" {
		signed = "nobody"
	}
	p.Fact(w, "signed by", signed)
	if d.By != (wire.Asker{}) {
		p.Fact(w, "asked by", words.Author(d.By.Trust, d.By.Author))
	}
	p.Fact(w, "written by", strings.TrimSuffix("Amber "+d.Amber, "Amber "))
	printParts(w, d)
	a.PrintChecks(w, d.Checks)
	for _, text := range d.Warnings {
		fmt.Fprintf(w, "  %s %s\n", p.Style(cli.Amb, "WARNING"), cli.Flat(text))
	}
	for _, s := range d.Skipped {
		fmt.Fprintf(w, "  %s %s\n", p.Style(cli.Amb, "NOT IN IT"), cli.Flat(cli.DescribeSkipped(s)))
	}
	if more := d.SkippedCount - len(d.Skipped); more > 0 {
		fmt.Fprintf(w, "  %s %d more\n", p.Style(cli.Amb, "NOT IN IT"), more)
	}
}

func printParts(w io.Writer, d wire.SnapshotDetail) {
	fmt.Fprintln(w)
	var rows [][]string
	for _, part := range d.Parts {
		digest := part.Digest
		if len(digest) > 16 {
			digest = digest[:16]
		}
		rows = append(rows, []string{part.Name, cli.ByteSize(part.Bytes), words.Count(part.Count, partUnit(part.Name, 1), partUnit(part.Name, 2)), digest})
	}
	for _, s := range d.Sources {
		when := "at one instant"
		if !s.Fenced {
			when = "each part at an instant of its own"
		}
		rows = append(rows, []string{"source:" + s.Name, cli.ByteSize(s.Bytes), words.Count(s.Files, "file", "files"), when})
	}
	cli.Table(w, []string{"PART", "SIZE", "HOLDS", "DIGEST"}, rows)
}

// partUnit is what the count of a part counts.
func partUnit(part string, n int) string {
	unit := map[string]string{"memory": "page", "control": "page", "git": "object", "journal": "frame"}[part]
	if unit == "" {
		unit = "file"
	}
	if n != 1 {
		unit += "s"
	}
	return unit
}
