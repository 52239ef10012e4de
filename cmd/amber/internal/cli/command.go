package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amber-memory/amber"
)

// Usage is an error about how the command was called.
func Usage(format string, args ...any) error {
	return &amber.Error{Op: "read command line", Kind: amber.KindInvalid, Err: fmt.Errorf(format, args...), Hint: usageHint}
}

// usageHint is the hint of an error about the command line until the command is
// known.
const usageHint = "amber help"

// Helpfully lets an error about the command line lead to the help of the command
// that ran.
func Helpfully(err error, ran *cobra.Command) error {
	var e *amber.Error
	if errors.As(err, &e) && e.Hint == usageHint && ran != nil {
		e.Hint = ran.CommandPath() + " --help"
	}
	return err
}

// remoteVerb marks a verb, with everything below it, that works with --remote.
const remoteVerb = "amber:remote"

// Remotely marks verbs that work with --remote.
func Remotely(verbs ...*cobra.Command) []*cobra.Command {
	for _, v := range verbs {
		mark(v, remoteVerb)
	}
	return verbs
}

func mark(v *cobra.Command, as string) {
	if v.Annotations == nil {
		v.Annotations = map[string]string{}
	}
	v.Annotations[as] = "yes"
}

// actingVerb marks a verb that holds others and does something by itself, too.
const actingVerb = "amber:acting"

// Acting marks a verb that holds others and does something by itself, too, unlike a [Family].
func Acting(verb *cobra.Command) *cobra.Command {
	mark(verb, actingVerb)
	return verb
}

// onlyHolds reports whether the verb only tells which others it holds.
func onlyHolds(cmd *cobra.Command) bool {
	return cmd.HasSubCommands() && cmd.Annotations[actingVerb] == ""
}

func takesRemote(cmd *cobra.Command) bool {
	for ; cmd != nil; cmd = cmd.Parent() {
		if cmd.Annotations[remoteVerb] != "" {
			return true
		}
	}
	return false
}

// Family is a verb that only holds others, like `session`.
func Family(name string, verbs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:  name,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return UnknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	c.AddCommand(verbs...)
	return c
}

// Exactly checks the number of arguments and names them in the error.
func Exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return Usage("%s needs %s", cmd.CommandPath(), names[len(args)])
		case len(args) > len(names):
			return Usage("%s does not take %q", cmd.CommandPath(), args[len(names)])
		}
		return nil
	}
}

// UnknownCommand is the error about a word that is no command of cmd. It names
// the commands that were most likely meant.
func UnknownCommand(cmd *cobra.Command, word string) error {
	meant := likely(cmd, strings.ToLower(word))
	e := &amber.Error{Op: "read command line", Kind: amber.KindInvalid, Hint: cmd.CommandPath() + " --help"}
	text := fmt.Sprintf("unknown command %q of %s", OneLine(word, 40), cmd.CommandPath())
	if len(meant) > 0 {
		text += ", did you mean " + orList(meant) + "?"
		e.Hint = meant[0] + " --help"
	}
	e.Err = errors.New(text)
	return e
}

// FlagError is the error about a flag of cmd, with the flag that was most likely
// meant.
func FlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var wrong *pflag.InvalidValueError
	var text string
	switch {
	case errors.As(err, &unknown):
		text = err.Error()
		names := map[string]bool{}
		visit := func(f *pflag.Flag) { names[f.Name] = names[f.Name] || !f.Hidden }
		cmd.Flags().VisitAll(visit)
		cmd.InheritedFlags().VisitAll(visit)
		if meant := nearest(unknown.GetSpecifiedName(), names); len(meant) > 0 && len(unknown.GetSpecifiedName()) > 1 {
			text += ", did you mean --" + meant[0] + "?"
		}
	case errors.As(err, &wrong):
		name := "--" + wrong.GetFlag().Name
		if short := wrong.GetFlag().Shorthand; short != "" {
			name = "-" + short
		}
		text = fmt.Sprintf("%s is %q, %s", name, OneLine(wrong.GetValue(), 40), wantOf(wrong))
	default:
		text = err.Error()
	}
	return &amber.Error{Op: "read command line", Kind: amber.KindInvalid, Err: errors.New(text), Hint: cmd.CommandPath() + " --help"}
}

// CommandOf returns the command that words lead to. The error is of kind invalid and
// says which word is no command.
func CommandOf(root *cobra.Command, words []string) (*cobra.Command, error) {
	about, rest, err := root.Find(words)
	switch {
	case err != nil:
		return nil, UnknownCommand(root, words[0])
	case len(rest) > 0 && about.HasSubCommands():
		return nil, UnknownCommand(about, rest[0])
	case len(rest) > 0:
		return nil, Usage("%s has no commands, found %q", about.CommandPath(), OneLine(rest[0], 40))
	}
	return about, nil
}
