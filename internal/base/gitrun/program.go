package gitrun

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Program is a git that neither the user's configuration nor the environment reaches, and how long one run of it may take.
type Program struct {
	Path    string
	Timeout time.Duration
}

// Call is one run of a [Program].
type Call struct {
	Args  []string // the subcommand first
	Dir   string   // where git runs; "" is the current folder
	Env   []string // the whole environment, usually [BareEnv] and more
	Extra []string // settings, "core.fsync=none", that override those of every call
}

// Find returns the git program: a name that is looked up in PATH, or a path; "" means "git". A relative path becomes
// absolute, because git runs in other folders and must not be looked for there.
func Find(git string, timeout time.Duration) (Program, error) {
	switch {
	case git == "":
		git = "git"
	case strings.ContainsRune(filepath.ToSlash(git), '/'):
		path, err := filepath.Abs(git)
		if err != nil {
			return Program{}, err
		}
		git = path
	}
	return Program{Path: git, Timeout: timeout}, nil
}

// Run returns what git wrote to its standard output. Errors: those of [Run].
func (p Program) Run(ctx context.Context, c Call) ([]byte, error) { return Run(ctx, p.Command(c)) }

// Command is the call with its settings and its bounds.
func (p Program) Command(c Call) Command {
	args := settings(c.Args[0])
	for _, pair := range c.Extra {
		args = append(args, "-c", pair)
	}
	return Command{
		Path: p.Path, Verb: c.Args[0], Args: append(args, c.Args...), Dir: c.Dir, Env: c.Env, Timeout: p.Timeout,
	}
}

// Exec is the call as a command whose pipes the caller connects. It ends with ctx, not after Timeout.
func (p Program) Exec(ctx context.Context, c Call) *exec.Cmd {
	b := p.Command(c)
	cmd := exec.CommandContext(ctx, b.Path, b.Args...)
	cmd.Dir, cmd.Env = b.Dir, b.Env
	Prepare(cmd)
	return cmd
}

// settings are the options of every call. They override what any file says, so that nothing in the repository runs a
// program, converts content, packs unasked or skips a sync.
func settings(subcommand string) []string {
	pairs := []string{
		"core.hooksPath=" + os.DevNull,
		"core.attributesFile=" + os.DevNull,
		"core.excludesFile=" + os.DevNull,
		"core.fsmonitor=false",
		"core.untrackedCache=false",
		"core.splitIndex=false",
		"core.autocrlf=false",
		"core.fileMode=false",
		"core.quotePath=false",
		"core.protectHFS=true",
		"core.protectNTFS=true",
		"core.logAllRefUpdates=false",
		"core.fsync=all",
		"core.fsyncMethod=fsync",
		"core.fsyncObjectFiles=true", // the same for git before 2.36; later ones warn, and warnings are not read
		"commit.gpgSign=false",
		"log.showSignature=false",
		"gc.auto=0",
		"maintenance.auto=false",
		"protocol.allow=never",
		"safe.directory=*",
	}
	if subcommand != "init" { // which would write it into the repository
		pairs = append(pairs, "core.sharedRepository=0600")
	}
	args := []string{"--no-pager"}
	for _, p := range pairs {
		args = append(args, "-c", p)
	}
	return args
}

// BareEnv is the environment of a git without a repository: nothing but PATH is inherited.
func BareEnv() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + os.DevNull,
		"XDG_CONFIG_HOME=" + os.DevNull,
		"LC_ALL=C",
		"TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
	}
}
