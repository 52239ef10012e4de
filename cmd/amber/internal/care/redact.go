package care

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/guard/redact"
)

// maxRedactBytes bounds the text that is looked at: several times its size is
// held in memory.
const maxRedactBytes = 64 << 20

func (a *app) redactCommand() *cobra.Command {
	var check, door bool
	cmd := cli.Verb("redact", func(_ *cobra.Command, args []string) error {
		loaded, err := a.LoadConfig()
		if err != nil {
			return err
		}
		rules := loaded.Config.Redactor()
		if door {
			loaded.Config.Write.Redact = true
			rules = loaded.Config.Intake()
		}
		text, err := a.redactInput(args[0])
		if err != nil {
			return err
		}
		if check {
			return a.showRedaction(redact.Check(rules, text, loaded.Config.Redact.Rules))
		}
		clean, _ := rules.JSON(text, nil)
		_, err = io.WriteString(a.Stdout, clean)
		return err
	})
	cmd.Flags().BoolVar(&check, "check", false, "only tell what would be taken out, and where")
	cmd.Flags().BoolVar(&door, "write", false, "by the rules for what is remembered")
	return cmd
}

// redactInput reads the text. Errors: not_found; invalid when it is too large.
func (a *app) redactInput(name string) (string, error) {
	in, err := a.Input(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, maxRedactBytes+1))
	if err != nil {
		return "", &amber.Error{Op: "read", Kind: amber.KindInternal, ID: name, Err: err}
	}
	if len(b) > maxRedactBytes {
		return "", amber.Errorf(amber.KindInvalid, "redact", name, "the text has more than %s", cli.ByteSize(maxRedactBytes))
	}
	return string(b), nil
}

func (a *app) showRedaction(r redact.Checked) error {
	return a.Out.Show(r, func(w io.Writer) {
		for _, f := range r.Found {
			fmt.Fprintf(w, "%d:%d\t%s\t%s\n", f.Line, f.Column, f.Rule, words.Count(int64(f.Bytes), "byte", "bytes"))
		}
		if len(r.Found) == 0 {
			a.Out.Note("nothing would be taken out")
		}
		for _, rule := range slices.Sorted(maps.Keys(r.Counts)) {
			if r.Counts[rule] == 0 {
				a.Out.Note("the rule %s found nothing", rule)
			}
		}
	})
}
