package notes

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

// The oldest git that has everything used here.
const oldestMajor, oldestMinor = 2, 30

// Version returns the version of the git program, "2.39.5"; "" means the one in PATH. It is of kind
// unsupported, with a hint, when there is none or when it is too old.
func Version(ctx context.Context, git string) (string, error) {
	path, err := programPath(git)
	if err != nil {
		return "", wrap("find git", "", err)
	}
	return program{path: path, timeout: DefaultTimeout}.version(ctx)
}

func (p program) version(ctx context.Context) (string, error) {
	out, err := p.run(ctx, command{args: []string{"version"}, env: bareEnv()})
	if err != nil {
		return "", err
	}
	var word string
	if _, err := fmt.Sscanf(string(out), "git version %40s", &word); err != nil {
		return "", badVersion(fmt.Errorf("%s does not answer like git", p.path))
	}
	var major, minor int
	if _, err := fmt.Sscanf(word, "%d.%d", &major, &minor); err != nil {
		return "", badVersion(fmt.Errorf("%q is not a version", word))
	}
	if major < oldestMajor || major == oldestMajor && minor < oldestMinor {
		return "", badVersion(fmt.Errorf("git %s is older than %d.%d", word, oldestMajor, oldestMinor))
	}
	return word, nil
}

func badVersion(err error) error {
	return amberError(amber.KindUnsupported, "git version", err,
		fmt.Sprintf("install git %d.%d or newer", oldestMajor, oldestMinor))
}
