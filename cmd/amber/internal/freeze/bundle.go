package freeze

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

func (a *app) bundleCommand() *cobra.Command {
	c := cli.Family("bundle",
		a.bundleExportCommand(), a.bundleImportCommand(), a.bundleVerifyCommand(), a.bundleShowCommand())
	a.AddIdentityFlag(c)
	return c
}

// bundleFile returns the path of the bundle that an argument names where others
// name a snapshot.
func (a *app) bundleFile(arg string) (path string, ok bool, err error) {
	if path, err = a.Absolute(arg); err != nil {
		return path, false, err
	}
	info, err := os.Stat(path)
	_, noID := agent.ParseIDEnd(arg)
	switch {
	case err == nil && info.IsDir() && noID != nil:
		return path, false, amber.Errorf(amber.KindInvalid, "read bundle", path, "the path is a directory, want a bundle")
	case errors.Is(err, fs.ErrNotExist) && (noID != nil || cli.IsBundleName(arg)):
		return path, false, amber.Errorf(amber.KindNotFound, "read bundle", path, "file does not exist, and %q is not the id of a snapshot", cli.OneLine(arg, 40)).
			WithHint("amber snapshot list")
	}
	return path, cli.IsBundleName(arg) || err == nil && info.Mode().IsRegular(), nil
}

// tidyRedactions keeps lists from being null in JSON.
func tidyRedactions(r *wire.RedactionReport) {
	if r != nil {
		r.Rules, r.Places, r.Notes = cli.OrEmpty(r.Rules), cli.OrEmpty(r.Places), cli.OrEmpty(r.Notes)
	}
}

// noteRedactions reports what was taken out.
func (a *app) noteRedactions(r *wire.RedactionReport) {
	if r == nil {
		return
	}
	if r.Matches == 0 {
		a.Out.Note("redacted: nothing was found to take out")
	} else {
		rules := make([]string, 0, len(r.Rules))
		for _, rule := range r.Rules {
			rules = append(rules, cli.Flat(rule.Rule))
		}
		a.Out.Note("redacted: %s taken out in %s (%s)", words.Count(r.Matches, "secret", "secrets"),
			words.Count(int64(len(r.Places))+r.More, "place", "places"), strings.Join(rules, ", "))
	}
	for _, text := range r.Notes {
		a.Out.Note("redacted: %s", cli.Flat(text))
	}
}
