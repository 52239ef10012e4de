package gitrun

import (
	"context"
	"fmt"
	"time"

	"github.com/amber-memory/amber"
)

// The oldest git that has everything that Amber uses.
const oldestMajor, oldestMinor = 2, 30

// DefaultTimeout ends a git command that hangs.
const DefaultTimeout = 30 * time.Second

// Version is [Program.Version] of the program that [Find] finds.
func Version(ctx context.Context, git string) (string, error) {
	p, err := Find(git, DefaultTimeout)
	if err != nil {
		return "", &amber.Error{Op: "find git", Kind: amber.KindOf(err), Err: err}
	}
	return p.Version(ctx)
}

// Version returns the version of the git program, "2.39.5". The error is of kind unsupported, with a hint, when there is
// no git or when it is too old.
func (p Program) Version(ctx context.Context) (string, error) {
	out, err := p.Run(ctx, Call{Args: []string{"version"}, Env: BareEnv()})
	if err != nil {
		return "", err
	}
	var word string
	if _, err := fmt.Sscanf(string(out), "git version %40s", &word); err != nil {
		return "", badVersion("%s does not answer like git", p.Path)
	}
	var major, minor int
	if _, err := fmt.Sscanf(word, "%d.%d", &major, &minor); err != nil {
		return "", badVersion("%q is not a version", word)
	}
	if major < oldestMajor || major == oldestMajor && minor < oldestMinor {
		return "", badVersion("git %s is older than %d.%d", word, oldestMajor, oldestMinor)
	}
	return word, nil
}

func badVersion(format string, args ...any) error {
	return &amber.Error{
		Op: "git version", Kind: amber.KindUnsupported, Err: fmt.Errorf(format, args...),
		Hint: fmt.Sprintf("install git %d.%d or newer", oldestMajor, oldestMinor),
	}
}
