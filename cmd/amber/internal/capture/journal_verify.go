package capture

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// journalVerdict is the JSON of journal verify.
type journalVerdict struct {
	OK      bool                    `json:"ok"` // every byte was read, and is what was written
	Reports []journal.SessionReport `json:"reports"`
}

func (a *app) journalVerifyCommand() *cobra.Command {
	return cli.Verb("verify", func(cmd *cobra.Command, _ []string) error {
		j, err := a.openJournal()
		if err != nil {
			return err
		}
		reports, err := cli.Working(a.App, "verifying", func() ([]journal.SessionReport, error) { return j.Verify(cmd.Context()) })
		if err != nil {
			return err
		}
		v := journalVerdict{OK: judgeReports(reports) == nil, Reports: append([]journal.SessionReport{}, reports...)}
		if err := a.Out.Show(v, func(w io.Writer) { printReports(w, reports) }); err != nil {
			return err
		}
		return judgeReports(reports)
	})
}

// judgeReports is the verdict about what was read. A session that could not be
// read to its end was not verified.
func judgeReports(reports []journal.SessionReport) error {
	unread := false
	for _, r := range reports {
		if r.Damage.Any() {
			return cli.Reported(amber.KindDamaged)
		}
		unread = unread || r.Error != ""
	}
	if unread {
		return cli.Reported(amber.KindInternal)
	}
	return nil
}

func printReports(w io.Writer, reports []journal.SessionReport) {
	var entries, bytes int64
	for _, r := range reports {
		entries += r.Frames
		bytes += r.Bytes
		if r.Damage.Any() {
			cli.Wrapped(w, 4, "%s: damaged: %s", r.Key, r.Damage)
		}
		if r.Damage.Torn > 0 {
			cli.Wrapped(w, 4, "%s: %s of an entry that was never acknowledged", r.Key, words.Count(r.Damage.Torn, "byte", "bytes"))
		}
		if r.Error != "" {
			cli.Wrapped(w, 4, "%s: not verified: %s", r.Key, cli.OneLine(r.Error, 400))
		}
	}
	fmt.Fprintf(w, "%s, %s, %s\n", words.Count(len(reports), "session", "sessions"), words.Count(entries, "intact entry", "intact entries"), words.Count(bytes, "byte", "bytes"))
}
