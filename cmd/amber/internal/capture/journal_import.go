package capture

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/foreign/nexus"
)

func (a *app) journalImportCommand() *cobra.Command {
	project := ""
	cmd := cli.Verb("import", func(cmd *cobra.Command, args []string) error {
		if dir, ok := a.folder(args[0]); ok {
			return a.importFolder(cmd.Context(), dir, project)
		}
		in, err := a.Input(args[0])
		if err != nil {
			return err
		}
		defer in.Close()
		j, err := a.openJournal()
		if err != nil {
			return err
		}
		loaded, err := a.LoadConfig()
		if err != nil {
			return err
		}
		report, err := cli.Working(a.App, "importing", func() (nexus.Report, error) {
			return nexus.Import(cmd.Context(), j, in, nexus.Options{Clock: a.Clock, Redact: loaded.Config.Redactor(), Project: project})
		})
		if err != nil {
			return err
		}
		return a.Out.Show(report, func(w io.Writer) { printImport(w, report) })
	})
	cmd.Flags().StringVar(&project, "project", "", "the project that everything in the buffer belongs to")
	return cmd
}

func printImport(w io.Writer, r nexus.Report) {
	fmt.Fprintf(w, "%s from %d of %s, in %s\n", words.Count(r.Events, "event", "events"), r.Salvaged, words.Count(r.Entries, "entry", "entries"), words.Count(len(r.Sessions), "session", "sessions"))
	if r.Truncated {
		fmt.Fprintln(w, "the file was cut off or is damaged at its end")
	}
	if r.Partial > 0 {
		fmt.Fprintf(w, "%s gave what came before\n", words.Count(r.Partial, "torn or damaged entry", "torn or damaged entries"))
	}
	if r.BytesUnread > 0 {
		fmt.Fprintf(w, "%s could not be read\n", words.Count(r.BytesUnread, "byte", "bytes"))
	}
	if r.BytesCut > 0 {
		fmt.Fprintf(w, "%s of entries that are too long were left out\n", words.Count(r.BytesCut, "byte", "bytes"))
	}
}
