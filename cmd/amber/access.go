package main

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/keyring"
)

// access says which repository a verb works on, and with which keys, beside
// what is configured.
type access struct {
	repository string   // one that was added; "" is the home's own
	identities []string // files
	passphrase string   // opens bundles
	sign       bool     // though snapshot.sign is false
}

// addIdentityFlag is for whole families: every verb of theirs may have to open
// what is encrypted.
func (a *app) addIdentityFlag(c *cobra.Command) {
	c.PersistentFlags().StringArrayVar(&a.access.identities, "identity", nil,
		"a file with an age or SSH secret key, to decrypt with (repeat)")
	onlyHere(c.PersistentFlags(), "identity")
}

// addRepoFlag is for verbs that look at snapshots or decide which stay.
func (a *app) addRepoFlag(verbs ...*cobra.Command) {
	for _, c := range verbs {
		c.Flags().StringVar(&a.access.repository, "repo", "", "use this repository (see repo add) instead of the home's own")
		onlyHere(c.Flags(), "repo")
	}
}

// resolve makes the paths of the flags absolute.
func (f access) resolve(a *app) (agent.Access, error) {
	out := agent.Access{Repository: f.repository, Passphrase: f.passphrase, Sign: f.sign}
	for _, file := range f.identities {
		if file == "" {
			return out, usage("--identity is empty")
		}
		path, err := a.absolute(file)
		if err != nil {
			return out, err
		}
		out.Identities = append(out.Identities, path)
	}
	return out, nil
}

// passphraseVariable is where the passphrase of bundles is looked for.
const passphraseVariable = "AMBER_BUNDLE_PASSPHRASE"

const passphraseHelp = `A passphrase is the first line of the file of --passphrase-file, - for stdin, or the value of
` + passphraseVariable + `.`

// maxPassphrase bounds a passphrase; nobody types a longer one.
const maxPassphrase = 4096

func addPassphraseFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "passphrase-file", "", "a file whose first line is the passphrase, - for stdin")
	onlyHere(cmd.Flags(), "passphrase-file")
}

// readPassphrase returns the passphrase of a file, or that of the environment
// without one; "" when there is none.
func (a *app) readPassphrase(cmd *cobra.Command, file string) (string, error) {
	if !cmd.Flags().Changed("passphrase-file") {
		return a.getenv(passphraseVariable), nil
	}
	text, err := a.secretText(file)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(text, "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", amber.Errorf(amber.KindInvalid, "read passphrase", "", "the first line is empty, want a passphrase")
	}
	return line, nil
}

// secretText reads a file that must be for the owner alone, or stdin for "-".
// Errors: not_found; refused when others may read it; invalid.
func (a *app) secretText(file string) (string, error) {
	switch file {
	case "":
		return "", usage("--passphrase-file is empty")
	case "-":
		return a.text("-", maxPassphrase)
	}
	return a.secretFile("read passphrase", file, maxPassphrase)
}

// secretFile reads a file that must be for the owner alone. Errors: not_found;
// refused when others may read it; invalid.
func (a *app) secretFile(op, file string, most int64) (string, error) {
	path, err := a.absolute(file)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		e := amber.Errorf(amber.KindRefused, op, path, "the file has mode %04o, want 0600: other users can read the file", info.Mode().Perm())
		e.Hint = "chmod 600 " + path
		return "", e
	}
	b, err := a.readBounded(op, file, most)
	return string(b), err
}

// readBounded reads a regular file of at most so many bytes. Errors: not_found;
// refused; invalid.
func (a *app) readBounded(op, file string, most int64) ([]byte, error) {
	path, err := a.absolute(file)
	if err != nil {
		return nil, err
	}
	b, err := fsx.ReadFile(fsx.OS(), path, most)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, amber.Errorf(amber.KindNotFound, op, path, "the file does not exist")
	case errors.Is(err, fs.ErrPermission):
		return nil, &amber.Error{Op: op, Kind: amber.KindRefused, ID: path, Err: err}
	case errors.Is(err, fsx.ErrTooLarge), errors.Is(err, fsx.ErrNotRegular):
		return nil, &amber.Error{Op: op, Kind: amber.KindInvalid, ID: path, Err: err}
	case err != nil:
		return nil, &amber.Error{Op: op, Kind: amber.KindInternal, ID: path, Err: err}
	}
	return b, nil
}

// either checks two flags that say the opposite of each other and returns what
// they say, or what holds without them.
func either(cmd *cobra.Command, yes, no string, otherwise bool) (bool, error) {
	on := func(name string) bool {
		f := cmd.Flags().Lookup(name)
		return f.Changed && f.Value.String() == "true"
	}
	switch {
	case on(yes) && on(no):
		return false, usage("--%s and --%s exclude each other", yes, no)
	case on(yes):
		return true, nil
	case on(no):
		return false, nil
	}
	return otherwise, nil
}

// ring returns the keys of a home.
func (a *app) ring(h *home.Home) *keyring.Ring {
	return keyring.Open(h.KeysDir(), keyring.Options{Random: a.random})
}
