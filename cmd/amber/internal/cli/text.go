package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TextsBehindFlags returns a command line in which texts that begin with a dash and a blank, as the items of lists do,
// are not taken for flags: everything that is neither the command nor a flag stands behind "--". Other command lines
// stay as they are.
func TextsBehindFlags(root *cobra.Command, args []string) []string {
	if !slices.ContainsFunc(args, isListItem) {
		return args
	}
	cmd, rest, err := root.Find(args)
	if err != nil {
		return args
	}
	var flags, texts []string
	for i := 0; i < len(rest); i++ {
		switch arg := rest[i]; {
		case arg == "--":
			texts, i = append(texts, rest[i+1:]...), len(rest)
		case isListItem(arg) || !strings.HasPrefix(arg, "-") || arg == "-":
			texts = append(texts, arg)
		case takesNext(cmd, arg) && i+1 < len(rest):
			flags = append(flags, arg, rest[i+1])
			i++
		default:
			flags = append(flags, arg)
		}
	}
	path := strings.Fields(cmd.CommandPath())[1:]
	return slices.Concat(path, flags, []string{"--"}, texts)
}

// isListItem reports whether an argument begins as the item of a list does: no flag is called "- ".
func isListItem(arg string) bool {
	rest := strings.TrimLeft(arg, "-")
	return rest != arg && strings.TrimLeft(rest, " \t\r\n") != rest
}

// takesNext reports whether a flag takes the next argument as its value.
func takesNext(cmd *cobra.Command, arg string) bool {
	var f *pflag.Flag
	if name, long := strings.CutPrefix(arg, "--"); long {
		f = cmd.Flag(name)
	} else {
		f = shorthand(cmd, arg[len(arg)-1:])
	}
	return f != nil && f.NoOptDefVal == "" && !strings.Contains(arg, "=")
}

// shorthand finds a flag of the command, or of one above it, by its letter.
func shorthand(cmd *cobra.Command, letter string) *pflag.Flag {
	if f := cmd.Flags().ShorthandLookup(letter); f != nil {
		return f
	}
	for c := cmd; c != nil; c = c.Parent() {
		if f := c.PersistentFlags().ShorthandLookup(letter); f != nil {
			return f
		}
	}
	return nil
}
