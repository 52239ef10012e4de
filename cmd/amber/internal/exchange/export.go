package exchange

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/formats"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/wire"
)

// exportFlags say what leaves, and where to.
type exportFlags struct {
	to, project, out  string
	users             []string
	allUsers, private bool
}

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := cli.Verb("export", func(cmd *cobra.Command, _ []string) error {
		format, err := a.exportFormat(cmd, f)
		if err != nil {
			return err
		}
		if a.Remote != nil {
			return a.exportThere(cmd.Context(), format, f)
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			o := transfer.ExportOptions{
				Project: f.project, Users: f.users, AllUsers: f.allUsers, Private: f.private,
				Redact: s.Config.Config.Leaving(f.private), Clock: a.Clock, Agent: s.AgentID(),
			}
			return a.export(f, format.Folder, func(to foreign.Output) (wire.ForeignExport, error) {
				return transfer.Export(ctx, s.Store, format, o, to)
			})
		})
	})
	fl := cmd.Flags()
	fl.StringVar(&f.to, "to", "", "the format")
	fl.StringVarP(&f.out, "output", "o", "", "the file, or the folder of a format that writes several files (default stdout)")
	fl.StringVar(&f.project, "project", "", "only this project (default all)")
	fl.StringArrayVar(&f.users, "user", nil, "memories of this user, too (repeat)")
	fl.BoolVar(&f.allUsers, "all-users", false, "memories of every user, too")
	fl.BoolVar(&f.private, "private", false, "passages that are marked private, too")
	return cmd
}

// exportFormat checks the flags before anything is opened.
func (a *app) exportFormat(cmd *cobra.Command, f exportFlags) (foreign.Format, error) {
	none := foreign.Format{}
	if f.to == "" {
		return none, cli.Usage("%s needs --to, one of %s", cmd.CommandPath(), formats.Names(formats.Written()))
	}
	format, err := formats.Find(f.to, formats.Written())
	switch {
	case err != nil:
		return none, cli.Usage("--to is %q, want one of %s", cli.OneLine(f.to, 40), formats.Names(formats.Written()))
	case cmd.Flags().Changed("output") && f.out == "":
		return none, cli.Usage("--output is empty")
	case format.Folder && (f.out == "" || f.out == "-"):
		return none, cli.Usage("--to %s makes several files and needs -o FOLDER", format.Name)
	case a.Global.JSON && (f.out == "" || f.out == "-"):
		return none, cli.Usage("--json prints what was exported and needs -o FILE, since the export itself would go to stdout")
	}
	return format, amber.CheckOptionalID("project id", f.project)
}

// export writes to stdout, or to a path, and reports what was written.
func (a *app) export(f exportFlags, folder bool, write func(to foreign.Output) (wire.ForeignExport, error)) error {
	if f.out == "" || f.out == "-" {
		r, err := write(transfer.Stream(a.Out.Out))
		if err == nil {
			a.tellHeld(r)
		}
		return err
	}
	path, err := a.Absolute(f.out)
	if err != nil {
		return err
	}
	r, err := cli.Working(a.App, "exporting", func() (wire.ForeignExport, error) {
		return write(transfer.Path(path, folder))
	})
	if err != nil {
		return err
	}
	err = a.Out.Show(r, func(w io.Writer) {
		fmt.Fprintf(w, "exported %s to %s: %s, %s, %s, %s, %s\n", r.Format, cli.Flat(r.Path), words.Count(r.Memories, "memory", "memories"),
			words.Count(r.Relations, "relation", "relations"), words.Count(r.Sessions, "session", "sessions"), words.Count(r.Turns, "turn", "turns"), words.Count(r.Notes, "note", "notes"))
	})
	a.tellHeld(r)
	return err
}

// tellHeld says what stayed.
func (a *app) tellHeld(r wire.ForeignExport) {
	if r.Held > 0 {
		a.Out.Note("%s of users stayed here: --user NAME lets those of one leave, --all-users all", words.Count(r.Held, "memory", "memories"))
	}
}
