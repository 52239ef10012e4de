package githook

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber/internal/base/gitrun"
)

// patience is how long one run of git may take.
const patience = 30 * time.Second

// kept are the variables that git is started with: where its settings are, and
// nothing that says which repository. Inside a hook git itself sets those,
// relative to another folder than ours.
var kept = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CEILING_DIRECTORIES",
	"USERPROFILE", "SYSTEMROOT", "TEMP", "TMP",
}

// environment picks those out of environ and adds what keeps git from asking,
// from writing, from fetching, and from speaking another language.
func environment(environ []string) []string {
	var env []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(kept, strings.ToUpper(name)) {
			env = append(env, kv)
		}
	}
	return append(env,
		"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1")
}

// git runs one command that only reads, in a folder, and returns what it wrote.
// Errors: those of [gitrun.Run].
func git(ctx context.Context, env []string, dir string, args ...string) ([]byte, error) {
	return gitrun.Run(ctx, gitrun.Command{
		Path: "git", Verb: args[0], Args: append([]string{"--no-pager", "-c", "core.fsmonitor=false"}, args...),
		Dir: dir, Env: env, Timeout: patience,
	})
}

// line is git for an answer of one line.
func line(ctx context.Context, env []string, dir string, args ...string) (string, error) {
	out, err := git(ctx, env, dir, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// said returns what a git complained of that ran and said no.
func said(err error) (text string, ok bool) {
	var exit gitrun.Exit
	if !errors.As(err, &exit) {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(exit.Text, "fatal: "), "error: "), true
}
