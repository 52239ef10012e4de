package main

import (
	"fmt"
	"io"
	"strings"

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
