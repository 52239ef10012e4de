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
	return cli.Family("note",
		a.noteWriteCommand(), a.noteShowCommand(), a.noteListCommand(), a.noteLogCommand(), a.noteDeleteCommand(), a.noteExportCommand())
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
	return cli.Verb("write", func(cmd *cobra.Command, args []string) error {
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
	})
}

func (a *app) noteShowCommand() *cobra.Command {
	return cli.Verb("show", func(cmd *cobra.Command, args []string) error {
		return a.withNote(cmd, args[0], func(ctx context.Context, s *cli.Opened, name string) error {
			return cli.Answer(s.Store.Notes.ReadNote(ctx, name))(a.Out, func(w io.Writer, note amber.Note) {
				a.PrintNote(w, note.Content)
			})
		})
	})
}

func (a *app) noteListCommand() *cobra.Command {
	var jsonl bool
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			return cli.Listing(s.Store.Notes.ListNotes(ctx))(a.App, jsonl, a.printNotes)
		})
	})
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
	cmd := cli.Verb("log", func(cmd *cobra.Command, args []string) error {
		if err := cli.PageSize(n); err != nil {
			return err
		}
		return a.withNote(cmd, args[0], func(ctx context.Context, s *cli.Opened, name string) error {
			return cli.Listing(s.Store.NoteLog.LogNote(ctx, name, n))(a.App, jsonl, a.printNoteLog)
		})
	})
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
	cmd := cli.Verb("export", func(cmd *cobra.Command, _ []string) error {
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
	})
	cmd.Flags().StringVar(&dir, "git", "", "the folder to write the repository into")
	return cmd
}

// deletedNote is the JSON of note delete.
type deletedNote struct {
	Name    string `json:"name"`
	Deleted bool   `json:"deleted"`
}

func (a *app) noteDeleteCommand() *cobra.Command {
	return cli.Verb("delete", func(cmd *cobra.Command, args []string) error {
		return a.withNote(cmd, args[0], func(ctx context.Context, s *cli.Opened, name string) error {
			if err := s.Store.Notes.DeleteNote(ctx, name, amber.NoteBy{}); err != nil {
				return err
			}
			return a.Out.Show(deletedNote{name, true}, func(w io.Writer) { fmt.Fprintln(w, name) })
		})
	})
}

// shortCommit is what people read of a commit.
func shortCommit(commit string) string { return commit[:min(len(commit), 12)] }
