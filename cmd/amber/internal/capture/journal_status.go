package capture

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

func (a *app) journalStatusCommand() *cobra.Command {
	return cli.Verb("status", func(cmd *cobra.Command, _ []string) error {
		at, err := a.Configured()
		if err != nil {
			return err
		}
		return cli.Answer(at.JournalState(cmd.Context()))(a.Out, a.printJournalState)
	})
}

func (a *app) printJournalState(w io.Writer, state agent.JournalState) {
	if len(state.Sessions) == 0 {
		a.Out.Note("the journal is empty")
	} else {
		heading := []string{"HOST", "SESSION", "ENTRIES", "UNDRAINED", "OLDEST", "BYTES", "LAST SYNC", "TROUBLE"}
		cli.TableOf(w, heading, state.Sessions, func(s wire.JournalStatus) []string {
			return []string{
				s.Host, string(s.SessionID), strconv.FormatInt(s.Entries, 10), strconv.FormatInt(s.Undrained, 10),
				a.oldest(s), strconv.FormatInt(s.Bytes, 10), a.Out.When(s.LastSync), troubles(s),
			}
		})
	}
	if state.Losses.Count > 0 {
		fmt.Fprintf(w, "%s could not be kept, the last one %s\n", words.Count(state.Losses.Count, "event", "events"), a.Out.When(state.Losses.Last))
	}
	for _, p := range state.Parked {
		fmt.Fprintf(w, "%s of generation %d: amber journal drain --from-generation %d\n", words.Count(p.Entries, "parked entry", "parked entries"), p.Generation, p.Generation)
		if p.Error != "" {
			fmt.Fprintf(w, "not all of them can be read: %s\n", cli.OneLine(p.Error, 200))
		}
	}
	if state.StoreError != "" {
		a.Out.Note("it is not known what is drained: %s", cli.OneLine(state.StoreError, 400))
	}
}

func (a *app) oldest(s wire.JournalStatus) string {
	if s.Undrained == 0 {
		return "-"
	}
	return a.Out.When(s.Oldest)
}

// troubles says what is not as it should be with a session.
func troubles(s wire.JournalStatus) string {
	text := ""
	for _, t := range []struct {
		n    int64
		what string
	}{{s.Damaged, "damaged"}, {s.Quarantined, "quarantined"}, {s.Gaps, "gaps"}} {
		if t.n > 0 {
			text += fmt.Sprintf("%d %s ", t.n, t.what)
		}
	}
	return cli.OneLine(text+s.LastError, 80)
}
