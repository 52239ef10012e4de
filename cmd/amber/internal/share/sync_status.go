package share

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/wire"
)

func (a *app) syncStatusCommand(f *syncFlags) *cobra.Command {
	var p projectFlags
	cmd := cli.Verb("status", func(cmd *cobra.Command, _ []string) error {
		project, err := a.exportProject(cmd, p)
		if err != nil {
			return err
		}
		return a.withSync(cmd, f, false, func(ctx context.Context, g *gitsync.Sync) error {
			st, err := cli.Working(a.App, "looking", func() (wire.SyncStatus, error) { return g.Status(ctx, project) })
			if err != nil {
				return err
			}
			st = tidyStatus(st)
			return a.Out.Show(st, func(w io.Writer) { a.printSyncStatus(w, st) })
		})
	})
	p.add(cmd)
	return cmd
}

// tidyStatus keeps lists from being null in JSON.
func tidyStatus(st wire.SyncStatus) wire.SyncStatus {
	st.Conflicts, st.Quarantined, st.Missing = cli.OrEmpty(st.Conflicts), cli.OrEmpty(st.Quarantined), cli.OrEmpty(st.Missing)
	st.Devices, st.Summary.Authors = cli.OrEmpty(st.Devices), cli.OrEmpty(st.Summary.Authors)
	return st
}

func (a *app) printSyncStatus(w io.Writer, st wire.SyncStatus) {
	p := a.Out
	fmt.Fprintf(w, "%s (%s)\n", p.Style(cli.Bold, cli.Flat(st.Dir)), st.Format)
	row := func(name string, n int64, one, many, next string) {
		number, unit, _ := strings.Cut(words.Count(n, one, many), " ")
		fmt.Fprintf(w, "%-13s %6s %-8s %s\n", name, number, unit, p.Style(cli.Dim, next))
	}
	when := func(n int64, next string) string {
		if n == 0 {
			return ""
		}
		return next
	}
	row("to export", st.PendingExport, "record", "records", when(st.PendingExport, "amber sync export"))
	row("to import", st.PendingImport, "chunk", "chunks", when(st.PendingImport, "amber sync import"))
	row("damaged", st.Damaged, "chunk", "chunks", when(st.Damaged, "git checkout brings them back"))
	row("quarantined", int64(len(st.Quarantined)), "chunk", "chunks", "")
	row("missing", int64(len(st.Missing)), "chunk", "chunks", "")
	row("conflicts", st.ConflictCount, "memory", "memories", when(st.ConflictCount, "amber edit settles one"))
	a.printQuarantined(w, st.Quarantined)
	if len(st.Missing) > 0 {
		fmt.Fprintf(w, "  %s %s\n", p.Style(cli.Amb, "MISSING"), shortChunks(st.Missing))
	}
	a.printConflicts(w, st)
	a.printDevices(w, st.Devices)
	a.printSummary(w, st.Summary)
}

// printConflicts shows both sides of each conflict.
func (a *app) printConflicts(w io.Writer, st wire.SyncStatus) {
	p := a.Out
	side := func(label string, v amber.SyncVersion) {
		text := cli.OneLine(v.Content, 70)
		if v.Title != "" {
			text = cli.OneLine(v.Title, 40) + ": " + text
		}
		if v.Deleted {
			text = "(deleted)"
		}
		fmt.Fprintf(w, "    %-6s %s  %s\n", label, text, p.Style(cli.Dim, p.When(v.UpdatedAt)+", "+cli.Flat(cli.ShortID(v.Origin.Device))))
	}
	for _, c := range st.Conflicts[:min(len(st.Conflicts), cli.MaxWarnings)] {
		fmt.Fprintf(w, "  %s %s\n", p.Style(cli.Amb, "CONFLICT"), c.ID)
		side("shown", c.Kept)
		for _, v := range c.Others {
			side("other", v)
		}
	}
	if more := st.ConflictCount - int64(min(len(st.Conflicts), cli.MaxWarnings)); more > 0 {
		fmt.Fprintf(w, "  %s %d more; --json has up to %d\n", p.Style(cli.Amb, "CONFLICT"), more, amber.MaxConflicts)
	}
}

func (a *app) printDevices(w io.Writer, devices []amber.SyncDevice) {
	if len(devices) == 0 {
		return
	}
	fmt.Fprintln(w, "last sync of")
	for _, d := range devices[:min(len(devices), cli.MaxWarnings)] {
		line := fmt.Sprintf("  %-16s %-10s %s", cli.OneLine(d.CreatedBy, 16), cli.Flat(cli.ShortID(d.Device)), a.Out.When(d.LastSync))
		if d.DriftMS > 0 {
			line += fmt.Sprintf(", its clock was %d s ahead", (d.DriftMS+999)/1000)
		}
		fmt.Fprintln(w, line)
	}
	if more := len(devices) - cli.MaxWarnings; more > 0 {
		fmt.Fprintf(w, "  %d more\n", more)
	}
}

// printSummary prints what a folder holds.
func (a *app) printSummary(w io.Writer, s wire.SyncSummary) {
	if s.Chunks == 0 {
		fmt.Fprintln(w, "the folder holds nothing")
		return
	}
	fmt.Fprintf(w, "the folder holds %s in %s, %s: %s\n", words.Count(s.Chunks, "chunk", "chunks"), words.Count(s.Files, "file", "files"), cli.ByteSize(s.Bytes),
		countRows(int(s.Memories), int(s.Sessions), int(s.Prompts), int(s.Relations), int(s.Deleted)))
	for _, author := range s.Authors[:min(len(s.Authors), cli.MaxWarnings)] {
		fmt.Fprintf(w, "  %-16s %s, %s, %s to %s\n", cli.OneLine(author.Name, 16), words.Count(author.Chunks, "chunk", "chunks"), words.Count(author.Rows, "row", "rows"),
			day(author.First), day(author.Last))
	}
	if more := len(s.Authors) - cli.MaxWarnings; more > 0 {
		fmt.Fprintf(w, "  %d more\n", more)
	}
}

// day is the date of a time.
func day(t amber.Time) string { return t.Time().Format("2006-01-02") }
