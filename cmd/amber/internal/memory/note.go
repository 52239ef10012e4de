package memory

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
)

func (a *app) noteCommand() *cobra.Command {
	cmd := cli.Family("note", "Keep notes: Markdown files, each change a commit",
		a.noteWriteCommand(), a.noteShowCommand(), a.noteListCommand(), a.noteLogCommand(), a.noteDeleteCommand(), a.noteExportCommand())
	cmd.Long = `Keep notes: Markdown files in a folder of the agent, each change a git commit.

A NAME is a relative path of letters, digits, spaces and ._-@+, such as
"decisions/database"; ".md" at its end makes no difference.`
	return cmd
}

// withNote is withStore for a verb about one note; a name that is no name is
// refused before anything is opened.
func (a *app) withNote(cmd *cobra.Command, arg string, fn func(ctx context.Context, s *cli.Opened, name string) error) error {
	name, err := amber.CheckNoteName(arg)
	if err != nil {
		return err
	}
	return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error { return fn(ctx, s, name) })
}

func (a *app) noteWriteCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "write NAME TEXT|-",
		Short:   "Write a note",
		Long:    "Write a note, new or over the one of that name, and commit it. Equal text makes no commit.",
		Example: `  amber note write decisions/database - < database.md`,
		Args:    cli.Exactly("the name of a note", "a text, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withNote(cmd, args[0], func(ctx context.Context, s *cli.Opened, name string) error {
				content, err := a.Text(args[1], amber.MaxContentBytes)
				if err != nil {
					return err
				}
				err = cli.Answer(s.Store.Notes.WriteNote(ctx, amber.NoteWrite{Name: name, Content: content}))(a.Out, func(w io.Writer, note amber.Note) {
					fmt.Fprintln(w, note.Name, shortCommit(note.Commit))
				})
				if err == nil {
					s.IndexWritten(ctx, cli.WriteBudget)
				}
				return err
			})
		},
	}
}

func (a *app) noteShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Print a note",
		Example: `  amber note show decisions/database`,
		Args:    cli.Exactly("the name of a note"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withNote(cmd, args[0], func(ctx context.Context, s *cli.Opened, name string) error {
				return cli.Answer(s.Store.Notes.ReadNote(ctx, name))(a.Out, func(w io.Writer, note amber.Note) {
					a.PrintNote(w, note.Content)
				})
			})
		},
	}
}

func (a *app) noteListCommand() *cobra.Command {
	var jsonl bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the notes",
		Example: `  amber note list`,
		Args:    cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
				return cli.Listing(s.Store.Notes.ListNotes(ctx))(a.App, jsonl, a.printNotes)
			})
		},
	}
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

func (a *app) printNotes(w io.Writer, notes []amber.Note) {
	p := a.Out
	for _, n := range notes {
		fmt.Fprintf(w, "%s  %s\n", p.Style(cli.Bold, fmt.Sprintf("%-40s", n.Name)), p.Style(cli.Dim, fmt.Sprintf("%8d bytes  %s", n.Bytes, p.When(n.UpdatedAt))))
	}
}

func (a *app) noteLogCommand() *cobra.Command {
	var n int
	var jsonl bool
	cmd := &cobra.Command{
		Use:     "log NAME",
		Short:   "Show the changes of a note, newest first",
		Long:    "Show the changes of a note, newest first, also of one that was deleted.",
		Example: `  amber note log decisions/database -n 5`,
		Args:    cli.Exactly("the name of a note"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.PageSize(n); err != nil {
				return err
			}
			return a.withNote(cmd, args[0], func(ctx context.Context, s *cli.Opened, name string) error {
				return cli.Listing(s.Store.NoteLog.LogNote(ctx, name, n))(a.App, jsonl, a.printNoteLog)
			})
		},
	}
	cmd.Flags().IntVarP(&n, "limit", "n", 20, "how many changes at most (cap 1000)")
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

func (a *app) printNoteLog(w io.Writer, log []amber.NoteCommit) {
	p := a.Out
	for _, c := range log {
		fmt.Fprintf(w, "%s  %s  %s\n", p.Style(cli.Amb, shortCommit(c.Commit)), p.Style(cli.Dim, c.At.String()), c.Op+byline(c.NoteBy))
	}
}

// byline says who made a change of a note that is not the owner's.
func byline(by amber.NoteBy) string {
	if by.Trust == "" {
		return ""
	}
	return "  by " + cli.OneLine(words.Author(by.Trust, by.Author), 200)
}

// ExportedNotes is the JSON of note export.
type ExportedNotes struct {
	Dir   string `json:"dir"`
	Notes int    `json:"notes"` // in the last commit
}

func (a *app) noteExportCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "export --git DIR",
		Short: "Write the notes into a git repository of their own",
		Long: `Write the notes into a new folder: a git repository with their whole history, and the files of the
last commit. Commits have the ids that amber note log shows, wherever the agent lives. DIR does not
exist, or is empty. Secrets stay in the notes as they are.`,
		Example: `  amber note export --git ~/notes && git -C ~/notes log`,
		Args:    cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return cli.Usage("want --git DIR, a folder that does not exist")
			}
			if err := a.OnThisMachine("export notes"); err != nil {
				return err
			}
			path, err := a.Absolute(dir)
			if err != nil {
				return err
			}
			return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
				if err := s.Local.ExportNotes(ctx, path); err != nil {
					return err
				}
				list, err := s.Store.Notes.ListNotes(ctx)
				if err != nil {
					return err
				}
				return a.Out.Show(ExportedNotes{path, len(list)}, func(w io.Writer) { fmt.Fprintln(w, path) })
			})
		},
	}
	cmd.Flags().StringVar(&dir, "git", "", "the folder to write the repository into")
	return cmd
}

// deletedNote is the JSON of note delete.
type deletedNote struct {
	Name    string `json:"name"`
	Deleted bool   `json:"deleted"`
}

func (a *app) noteDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "delete NAME",
		Short:   "Delete a note",
		Long:    "Delete a note and commit that. Its history stays: amber note log shows it, and over HTTP\na token with the scope read can read its earlier texts.",
		Example: `  amber note delete decisions/database`,
		Args:    cli.Exactly("the name of a note"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withNote(cmd, args[0], func(ctx context.Context, s *cli.Opened, name string) error {
				if err := s.Store.Notes.DeleteNote(ctx, name, amber.NoteBy{}); err != nil {
					return err
				}
				return a.Out.Show(deletedNote{name, true}, func(w io.Writer) { fmt.Fprintln(w, name) })
			})
		},
	}
}

// shortCommit is what people read of a commit.
func shortCommit(commit string) string { return commit[:min(len(commit), 12)] }
