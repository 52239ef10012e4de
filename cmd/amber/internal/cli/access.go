package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/store/home"
)

// access says which repository a verb works on, and with which keys, beside
// what is configured.
type access struct {
	Repository string   // one that was added; "" is the home's own
	Identities []string // files
	Passphrase string   // opens bundles
	Sign       bool     // though snapshot.sign is false
}

// AddIdentityFlag is for whole families: every verb of theirs may have to open
// what is encrypted.
func (a *App) AddIdentityFlag(c *cobra.Command) {
	c.PersistentFlags().StringArrayVar(&a.Access.Identities, "identity", nil,
		"a file with an age or SSH secret key, to decrypt with (repeat)")
	OnlyHere(c.PersistentFlags(), "identity")
}

// AddRepoFlag is for verbs that look at snapshots or decide which stay.
func (a *App) AddRepoFlag(verbs ...*cobra.Command) {
	for _, c := range verbs {
		c.Flags().StringVar(&a.Access.Repository, "repo", "", "use this repository (see repo add) instead of the home's own")
		OnlyHere(c.Flags(), "repo")
	}
}

// Resolve makes the paths of the flags absolute.
func (f access) Resolve(a *App) (agent.Access, error) {
	out := agent.Access{Repository: f.Repository, Passphrase: f.Passphrase, Sign: f.Sign}
	for _, file := range f.Identities {
		if file == "" {
			return out, Usage("--identity is empty")
		}
		path, err := a.Absolute(file)
		if err != nil {
			return out, err
		}
		out.Identities = append(out.Identities, path)
	}
	return out, nil
}

// PassphraseVariable is where the passphrase of bundles is looked for.
const PassphraseVariable = "AMBER_BUNDLE_PASSPHRASE"

// MaxSecret bounds a passphrase, a token and a key in a file or on stdin.
const MaxSecret = 4096

// AddPassphraseFlag adds --passphrase-file.
func AddPassphraseFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "passphrase-file", "", "a file whose first line is the passphrase, - for stdin")
	OnlyHere(cmd.Flags(), "passphrase-file")
}

// ReadPassphrase returns the passphrase of a file, or that of the environment
// without one; "" when there is none.
func (a *App) ReadPassphrase(cmd *cobra.Command, file string) (string, error) {
	if !cmd.Flags().Changed("passphrase-file") {
		return a.Getenv(PassphraseVariable), nil
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
func (a *App) secretText(file string) (string, error) {
	switch file {
	case "":
		return "", Usage("--passphrase-file is empty")
	case "-":
		return a.Text("-", MaxSecret)
	}
	return a.SecretFile("read passphrase", file)
}

// SecretFile reads a file that must be for the owner alone. Errors: not_found;
// refused when others may read it; invalid.
func (a *App) SecretFile(op, file string) (string, error) {
	path, err := a.Absolute(file)
	if err != nil {
		return "", err
	}
	return agent.SecretFile(op, path, MaxSecret)
}

// Either checks two flags that say the opposite of each other and returns what
// they say, or what holds without them.
func Either(cmd *cobra.Command, yes, no string, otherwise bool) (bool, error) {
	on := func(name string) bool {
		f := cmd.Flags().Lookup(name)
		return f.Changed && f.Value.String() == "true"
	}
	switch {
	case on(yes) && on(no):
		return false, Usage("--%s and --%s exclude each other", yes, no)
	case on(yes):
		return true, nil
	case on(no):
		return false, nil
	}
	return otherwise, nil
}

// Ring returns the keys of a home.
func (a *App) Ring(h *home.Home) *keyring.Ring {
	return keyring.Open(h.KeysDir(), keyring.Options{Random: a.Random})
}
