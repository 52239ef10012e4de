package exchange

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/formats"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/wire"
)

// importFlags say what is imported and how.
type importFlags struct {
	from, project, user, since, only   string
	dryRun, asOwn, watch, scan, observ bool
	sensitive                          bool
}

func (a *app) importCommand() *cobra.Command {
	var f importFlags
	cmd := cli.Verb("import", func(cmd *cobra.Command, args []string) error {
		if f.scan {
			return a.scan()
		}
		o, err := a.options(cmd.Context(), f)
		if err != nil {
			return err
		}
		if f.watch {
			return a.watch(cmd, args, f, o)
		}
		return a.importAll(cmd, args, f, o)
	})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case f.scan && len(args) > 0:
			return cli.Usage("--scan takes no PATH, found %q", cli.OneLine(args[0], 40))
		case !f.scan && len(args) == 0:
			return cli.Usage("%s needs a path, or --scan", cmd.CommandPath())
		}
		return nil
	}
	fl := cmd.Flags()
	fl.StringVar(&f.from, "from", "", "the format (default found out from the files)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "tell what would be imported, and write nothing")
	fl.StringVar(&f.project, "project", "", "the project of everything that is imported (default what the files say)")
	fl.StringVar(&f.user, "user", "", "the user whom memories about the user belong to")
	fl.BoolVar(&f.asOwn, "as-own", false, "the files are your own: let what they say count as yours")
	fl.StringVar(&f.since, "since", "", "only what was changed since ("+cli.TimeForms+")")
	fl.StringVar(&f.only, "only", "", "only these, of memories, sessions and notes (separate with commas)")
	fl.BoolVar(&f.watch, "watch", false, "keep importing whenever the files change, until interrupted")
	fl.BoolVar(&f.scan, "scan", false, "look where the known programs keep their files, and list what is there")
	fl.BoolVar(&f.observ, "observations", false, "take lines that look like observations out of any Markdown as memories")
	fl.BoolVar(&f.sensitive, "sensitive", false, "rows that their program marks as sensitive, too")
	cmd.AddCommand(a.undoCommand(), a.listCommand())
	return cli.Acting(cmd)
}

// options are what the flags say.
func (a *app) options(ctx context.Context, f importFlags) (transfer.Options, error) {
	folders, err := a.Projects(f.dryRun)
	if err != nil {
		return transfer.Options{}, err
	}
	o := transfer.Options{
		Project: f.project, User: f.user, AsOwn: f.asOwn, DryRun: f.dryRun, Observations: f.observ, Sensitive: f.sensitive,
		ProjectOf: func(dir string) string { return a.ProjectOf(ctx, folders, dir) }, Clock: a.Clock, NewID: a.newID, Progress: a.Meter.Set,
	}
	if err := errors.Join(amber.CheckOptionalID("project id", f.project), amber.CheckOptionalID("user id", f.user)); err != nil {
		return o, err
	}
	if f.only != "" {
		if o.Only, err = transfer.ParseParts(f.only); err != nil {
			return o, cli.Usage("--only is %q, want a list of memories, sessions and notes", cli.OneLine(f.only, 40))
		}
	}
	o.Since, err = a.Past("since", f.since)
	return o, err
}

// importAll imports one path after the other. The report has all that were imported, also where a later one
// failed.
func (a *app) importAll(cmd *cobra.Command, paths []string, f importFlags, o transfer.Options) error {
	if a.Remote != nil {
		return a.tell(each(paths, func(path string) (wire.ForeignImport, error) { return a.importThere(cmd.Context(), path, f, o) }))
	}
	return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
		if err := s.Config.Config.Memory.CheckWrite(); err != nil && !f.dryRun {
			return err
		}
		o.Redact, o.Settle = s.Config.Config.Intake(), a.Site(s).Settle
		defer a.GCPercent(frugal)()
		done, err := each(paths, func(path string) (wire.ForeignImport, error) { return a.importOne(ctx, s, path, f, o) })
		if len(done) > 0 && !f.dryRun {
			a.indexImported(ctx, s, wire.Sum(done))
		}
		return a.tell(done, err)
	})
}

// each imports path after path, until one fails.
func each(paths []string, one func(path string) (wire.ForeignImport, error)) (done []wire.ForeignImport, err error) {
	for _, path := range paths {
		r, err := one(path)
		if err != nil {
			return done, err
		}
		done = append(done, r)
	}
	return done, nil
}

// tell prints what was imported before an error.
func (a *app) tell(done []wire.ForeignImport, err error) error {
	if len(done) == 0 && err != nil {
		return err
	}
	return errors.Join(a.show(wire.Sum(done)), err)
}

// fewNew is how many new items get their vectors at once. With more new items, the time at the end of a command
// would make only a small part of their vectors, at the price of the memory that the model takes.
const fewNew = 2000

// indexImported makes what was imported found by its meaning, too, or says how that is done.
func (a *app) indexImported(ctx context.Context, s *cli.Opened, all wire.ForeignImports) {
	switch n := all.New + all.Changed; {
	case n == 0:
	case n <= fewNew:
		a.index(ctx, s)
	default:
		a.Out.Note("what was imported is found by its words; amber index sync lets it be found by its meaning, too")
	}
}

// firstLook is how much of the files an import reads before it reports what it found.
const firstLook = 64 << 20

// importOne imports one path, after it has reported what is there.
func (a *app) importOne(ctx context.Context, s *cli.Opened, path string, f importFlags, o transfer.Options) (wire.ForeignImport, error) {
	none := wire.ForeignImport{}
	t, err := foreign.Open(path)
	if err != nil {
		return none, err
	}
	defer t.Close()
	format, err := choose(t, f.from)
	if err != nil {
		return none, err
	}
	if format.Name == formats.Engram.Name {
		return a.importEngram(ctx, s, t, f, o)
	}
	if f.dryRun {
		return cli.Working(a.App, "looking", func() (wire.ForeignImport, error) { return transfer.Import(ctx, s.Store, format, t, o) })
	}
	if !a.Global.Quiet && !a.Global.JSON {
		look := o
		look.DryRun, look.Most = true, t.BytesRead()+firstLook
		found, err := cli.Working(a.App, "looking", func() (wire.ForeignImport, error) { return transfer.Import(ctx, s.Store, format, t, look) })
		if err != nil {
			return none, err
		}
		a.tellFound(found)
	}
	return cli.Working(a.App, "importing", func() (wire.ForeignImport, error) { return transfer.Import(ctx, s.Store, format, t, o) })
}

// choose returns the format that is named, or that fits.
func choose(t *foreign.Tree, from string) (foreign.Format, error) {
	if from == "" {
		return transfer.Detect(t, formats.Read())
	}
	f, err := formats.Find(from, formats.Read())
	if err != nil {
		return f, cli.Usage("--from is %q, want one of %s", cli.OneLine(from, 40), formats.Names(formats.Read()))
	}
	return f, nil
}

// parts tells counts in words: "3 memories, 1 session".
func parts(r wire.ForeignImport, of func(wire.ImportCounts) int64) string {
	var list []string
	for _, p := range []struct {
		counts    wire.ImportCounts
		one, many string
	}{
		{r.Memories, "memory", "memories"},
		{r.Relations, "relation", "relations"},
		{r.Sessions, "session", "sessions"},
		{r.Turns, "turn", "turns"},
		{r.Notes, "note", "notes"},
	} {
		if n := of(p.counts); n > 0 {
			list = append(list, words.Count(n, p.one, p.many))
		}
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

func bytesOf(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
}
