package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
)

// Text returns the text of an argument: the argument itself, or stdin for "-". A final line feed of stdin is
// the pipe's, not the text's.
func (a *App) Text(arg string, most int) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	b, err := io.ReadAll(io.LimitReader(a.In(), int64(most)+2))
	if err != nil {
		if amber.KindOf(err) == amber.KindUnreachable {
			return "", err
		}
		return "", &amber.Error{Op: "read stdin", Kind: amber.KindInternal, Err: err}
	}
	s := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	if len(s) > most {
		return "", amber.Errorf(amber.KindInvalid, "read stdin", "", "stdin has more than %d bytes, the limit", most)
	}
	return s, nil
}

// Pairs reads repeated k=v flags.
func Pairs(flag string, values []string) (map[string]string, error) {
	out := map[string]string{}
	for _, v := range values {
		key, value, ok := strings.Cut(v, "=")
		if !ok {
			return nil, Usage("--%s takes key=value, not %q", flag, v)
		}
		if _, twice := out[key]; twice {
			return nil, Usage("--%s gives %q twice", flag, key)
		}
		out[key] = value
	}
	return out, nil
}

// Sources reads repeated kind:value flags.
func Sources(values []string) ([]amber.SourceRef, error) {
	var out []amber.SourceRef
	for _, v := range values {
		kind, value, ok := strings.Cut(v, ":")
		if !ok {
			return nil, Usage("--source takes kind:value, not %q", v)
		}
		out = append(out, amber.SourceRef{Kind: kind, Value: value})
	}
	return out, nil
}

// Limit checks -n: a person who asks for none made a mistake.
func Limit(flag string, n int) error {
	if n < 1 {
		return Usage("%s is %d, want 1 or more", flag, n)
	}
	return nil
}

// Confirm asks a person before something that cannot be undone. Without a
// terminal only --yes will do.
func (a *App) Confirm(yes bool, question string) error {
	if yes {
		return nil
	}
	refused := func(why string) error {
		return amber.Errorf(amber.KindRefused, question, "", "%s", why).WithHint("add --yes, or look first with --dry-run")
	}
	if !a.Terminal() || a.Global.JSON {
		return refused(a.Verb + " needs --yes, or run it in a terminal to be asked")
	}
	fmt.Fprintf(a.Stderr, "%s? [y/N] ", question)
	var answer string
	_, err := fmt.Fscanln(a.In(), &answer)
	if a.untilStopped().Err() != nil {
		return Interruption(question)
	}
	if err != nil || !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
		return refused("the answer was no, so nothing was changed")
	}
	return nil
}

// maxDocument bounds a JSON document on stdin: the largest payload, escaped,
// and what is around it.
const maxDocument = 8 * amber.MaxStateBytes

// ReadJSON reads one JSON document from stdin. Fields it does not know are
// refused: a misspelt one would be lost without a word.
func (a *App) ReadJSON(what string, into any) error {
	text, err := a.Text("-", maxDocument)
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("stdin has more than one JSON value, want one")
		}
	}
	if err != nil {
		return &amber.Error{Op: "parse " + what, Kind: amber.KindInvalid, Err: err}
	}
	return nil
}

// UpTo is exactly with further arguments that may be left out, most in all.
func UpTo(most int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > most {
			return Usage("%s does not take %q", cmd.CommandPath(), args[most])
		}
		return Exactly(names...)(cmd, args[:min(len(args), len(names))])
	}
}

// AddPlanFlags adds the flags of every verb that asks.
func AddPlanFlags(cmd *cobra.Command, yes, dryRun *bool, plan string) {
	cmd.Flags().BoolVar(yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(dryRun, "dry-run", false, plan)
}

// ConfirmPlan shows a person the plan, then asks. Plan shows it and returns the question, "" when there is
// nothing to ask about. It is not called with yes, nor where no person can be asked: without a terminal, or
// with --json.
func (a *App) ConfirmPlan(yes bool, what string, plan func() (string, error)) error {
	if yes || !a.Terminal() || a.Global.JSON {
		return a.Confirm(yes, what)
	}
	question, err := plan()
	if err != nil || question == "" {
		return err
	}
	return a.Confirm(false, question)
}

// Input opens a file of the command line, or stdin for "-".
func (a *App) Input(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.In()), nil
	}
	path, err := a.Absolute(name)
	if err != nil {
		return nil, err
	}
	f, err := patiently(a.untilStopped(), "open file", func() (*os.File, error) { return os.Open(path) })
	if err == nil {
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil && info.IsDir() {
			err = amber.Errorf(amber.KindInvalid, "open file", path, "the path is a folder, want a file")
		}
		if err != nil {
			f.Close()
		}
	}
	var known *amber.Error
	switch {
	case err == nil:
		return interruptibleFile{newInterruptible(a.untilStopped(), f, "read file"), f}, nil
	case errors.As(err, &known):
		return nil, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, amber.Errorf(amber.KindNotFound, "open file", path, "the file does not exist")
	}
	return nil, diskerr.Given("open file", path, err)
}

// IsBundleName reports whether a name is that of a bundle.
func IsBundleName(name string) bool {
	return strings.HasSuffix(name, ".tar.zst") || strings.HasSuffix(name, ".tar.zst.age")
}
