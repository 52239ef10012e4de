package capture

import (
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/capture/journal"
)

func (a *app) journalShowCommand() *cobra.Command {
	var f cli.PageFlags
	var session string
	var undrained bool
	cmd := cli.Verb("show", func(cmd *cobra.Command, _ []string) error {
		at, err := a.Configured()
		if err != nil {
			return err
		}
		j, err := at.Journal()
		if err != nil {
			return err
		}
		keys, err := j.Find(session)
		if err != nil {
			return err
		}
		store, err := at.Cursors(cmd.Context())
		if err != nil {
			a.Out.Note("it is not known what is drained: %s", cli.OneLine(err.Error(), 400))
		}
		defer store.Close()
		l := agent.JournalListing{
			Journal: j, Keys: keys, Cursors: store, Undrained: undrained, Redact: at.Config().Redactor(),
			Damaged: func(key journal.Key) { a.Out.Note("session %s is damaged: amber journal verify tells more", key) },
		}
		return cli.ShowPage(a.App, cmd, f, func(n int, c amber.Cursor) (amber.Page[agent.JournalEntry], error) {
			return l.Page(cmd.Context(), n, c)
		}, a.printEntries)
	})
	f.Add(cmd)
	cmd.Flags().StringVar(&session, "session", "", "only of this session: its id, or its key")
	cmd.Flags().BoolVar(&undrained, "undrained", false, "only entries that wait to be drained")
	return cmd
}

func (a *app) printEntries(w io.Writer, items []agent.JournalEntry) {
	cli.TableOf(w, []string{"SESSION", "SEQ", "WRITTEN", "STATE", "TYPE", "TEXT"}, items, func(e agent.JournalEntry) []string {
		state := "waits"
		if e.Drained {
			state = "drained"
		}
		kind, text := e.Says()
		return []string{cli.Flat(string(e.SessionID)), strconv.FormatInt(e.Seq, 10), a.Out.When(e.At), state, cli.OneLine(kind, 24), cli.OneLine(text, 100)}
	})
}
