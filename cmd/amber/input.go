package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// text returns the text an argument stands for: itself, or what comes on
// stdin for "-". A final line feed of stdin is the pipe's, not the text's.
func (a *app) text(arg string, most int) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	b, err := io.ReadAll(io.LimitReader(a.in(), int64(most)+2))
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

// pairs reads repeated k=v flags.
func pairs(flag string, values []string) (map[string]string, error) {
	out := map[string]string{}
	for _, v := range values {
		key, value, ok := strings.Cut(v, "=")
		if !ok {
			return nil, usage("--%s takes key=value, not %q", flag, v)
		}
		if _, twice := out[key]; twice {
			return nil, usage("--%s gives %q twice", flag, key)
		}
		out[key] = value
	}
	return out, nil
}

// sources reads repeated kind:value flags.
func sources(values []string) ([]amber.SourceRef, error) {
	var out []amber.SourceRef
	for _, v := range values {
		kind, value, ok := strings.Cut(v, ":")
		if !ok {
			return nil, usage("--source takes kind:value, not %q", v)
		}
		out = append(out, amber.SourceRef{Kind: kind, Value: value})
	}
	return out, nil
}

// limit checks -n: a person who asks for none made a mistake.
func limit(flag string, n int) error {
	if n < 1 {
		return usage("%s is %d, want 1 or more", flag, n)
	}
	return nil
}

// confirm asks a person before something that cannot be undone. Without a
// terminal only --yes will do.
func (a *app) confirm(yes bool, question string) error {
	if yes {
		return nil
	}
	refused := func(why string) error {
		e := amber.Errorf(amber.KindRefused, question, "", "%s", why)
		e.Hint = "add --yes, or look first with --dry-run"
		return e
	}
	if !a.terminal() || a.global.json {
		return refused(a.verb + " needs --yes, or run it in a terminal to be asked")
	}
	fmt.Fprintf(a.stderr, "%s? [y/N] ", question)
	var answer string
	_, err := fmt.Fscanln(a.in(), &answer)
	if a.untilStopped().Err() != nil {
		return interruption(question)
	}
	if err != nil || !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
		return refused("the answer was no, so nothing was changed")
	}
	return nil
}

// maxDocument bounds a JSON document on stdin: the largest payload, escaped,
// and what is around it.
const maxDocument = 8 * amber.MaxStateBytes

// readJSON reads one JSON document from stdin. Fields it does not know are
// refused: a misspelt one would be lost without a word.
func (a *app) readJSON(what string, into any) error {
	text, err := a.text("-", maxDocument)
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more than one value")
		}
	}
	if err != nil {
		return &amber.Error{Op: "parse " + what, Kind: amber.KindInvalid, Err: err}
	}
	return nil
}

// upTo is exactly with further arguments that may be left out, most in all.
func upTo(most int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > most {
			return usage("%s does not take %q", cmd.CommandPath(), args[most])
		}
		return exactly(names...)(cmd, args[:min(len(args), len(names))])
	}
}

// addPlanFlags adds the flags of every verb that asks.
func addPlanFlags(cmd *cobra.Command, yes, dryRun *bool, plan string) {
	cmd.Flags().BoolVar(yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(dryRun, "dry-run", false, plan)
}

// confirmPlan asks a person who has seen the plan. Plan shows it and returns
// the question, "" when there is nothing to ask about. Where nobody can be
// asked it does not begin.
func (a *app) confirmPlan(yes bool, what string, plan func() (string, error)) error {
	if yes || !a.terminal() || a.global.json {
		return a.confirm(yes, what)
	}
	question, err := plan()
	if err != nil || question == "" {
		return err
	}
	return a.confirm(false, question)
}
