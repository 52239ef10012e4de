package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/wire"
)

// tokenFlags say what a new token is for.
type tokenFlags struct {
	scopes                []string
	expires, secretFile   string
	allAgents, allTenants bool
	ifNone                bool
	bound                 wire.Bound
}

// savedToken is the JSON of token create --secret-file.
type savedToken struct {
	wire.Token
	SecretFile string `json:"secret_file"`
}

// noToken is the JSON of token create --if-none where there is a token.
type noToken struct {
	Created bool `json:"created"` // false
	Tokens  int  `json:"tokens"`  // how many there are, revoked and expired ones too
}

func (a *app) tokenCreateCommand() *cobra.Command {
	var f tokenFlags
	cmd := cli.Verb("create", func(cmd *cobra.Command, args []string) error {
		r, err := a.tokenRequest(cmd, args[0], f)
		if err != nil {
			return err
		}
		if slices.Contains(r.Scopes, wire.TokenOwn) || slices.Contains(r.Scopes, wire.TokenAdmin) { // it speaks as the owner
			if err := a.OwnerOnly("make token"); err != nil {
				return err
			}
		}
		if f.ifNone {
			if found, err := a.tellTokens(cmd.Context()); found || err != nil {
				return err
			}
		}
		file, err := a.newSecretFile(cmd, f.secretFile)
		if err != nil {
			return err
		}
		d, err := a.openLedger(cmd.Context())
		if err != nil {
			return err
		}
		return errors.Join(a.createToken(cmd.Context(), d, r, file), d.Close())
	})
	fl := cmd.Flags()
	fl.StringSliceVar(&f.scopes, "scope", []string{string(wire.TokenRead), string(wire.TokenWrite)}, "what it allows, joined by commas: read, write, own, approve, snapshot, restore, erase, admin")
	fl.StringVar(&f.expires, "expires", "", "when it ends: "+cli.TimeForms+" from now (default never)")
	fl.BoolVar(&f.allAgents, "all-agents", false, "make it valid for every agent of the tenant")
	fl.BoolVar(&f.allTenants, "all-tenants", false, "make it valid for every agent of every tenant")
	fl.StringVar(&f.bound.User, "user", "", "bind it to a user: it reaches memories of this user alone, and no others")
	fl.StringVar(&f.bound.Project, "project", "", "bind it to a project: it reaches memories and sessions of this project alone")
	fl.StringVar(&f.bound.Workspace, "workspace", "", "bind it to a workspace")
	fl.StringVar(&f.secretFile, "secret-file", "", "write the secret to this new file instead of printing it")
	fl.BoolVar(&f.ifNone, "if-none", false, "make it only where no token was made before")
	return cmd
}

// tellTokens says whether there are tokens. It makes nothing.
func (a *app) tellTokens(ctx context.Context) (bool, error) {
	d, err := a.lookAtLedger(ctx)
	if d == nil || err != nil {
		return false, err
	}
	tokens, err := d.tokens(ctx, "")
	if err = errors.Join(err, d.Close()); err != nil || len(tokens) == 0 {
		return false, err
	}
	return true, a.Out.Show(noToken{Tokens: len(tokens)}, func(io.Writer) {
		a.Out.Note("there is a token already: amber token list")
	})
}

// tokenRequest puts a request together from the flags. It touches no disk.
func (a *app) tokenRequest(cmd *cobra.Command, name string, f tokenFlags) (wire.TokenRequest, error) {
	r := wire.TokenRequest{Name: name, Bound: f.bound}
	switch {
	case f.allTenants && cmd.Flags().Changed("tenant"):
		return r, cli.Usage("--all-tenants and --tenant exclude each other")
	case (f.allTenants || f.allAgents) && cmd.Flags().Changed("agent"):
		return r, cli.Usage("a token for every agent is not for --agent %s", cli.OneLine(a.Global.Agent, 40))
	}
	var err error
	if !f.allTenants {
		if r.Tenant, err = amber.ParseTenantID(a.Global.Tenant); err != nil {
			return r, err
		}
		if !f.allAgents {
			if r.Agent, err = amber.ParseAgentID(a.Global.Agent); err != nil {
				return r, err
			}
		}
	}
	for _, s := range f.scopes {
		r.Scopes = append(r.Scopes, wire.TokenScope(s))
	}
	if r.ExpiresAt, err = a.expiry(cmd, f.expires); err != nil {
		return r, err
	}
	if err := boundFlags(cmd, "user", "project", "workspace"); err != nil {
		return r, err
	}
	return r.Normalize()
}

// boundFlags refuses a flag that binds to nothing, such as a variable of a script that is not set: it would bind less than was meant.
func boundFlags(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return cli.Usage("--%s is empty", name)
		}
	}
	return nil
}

// expiry reads --expires. Time that has passed is refused before anything is
// made.
func (a *app) expiry(cmd *cobra.Command, text string) (amber.Time, error) {
	if !cmd.Flags().Changed("expires") {
		return amber.Time{}, nil
	}
	at, err := a.Future("expires", text)
	if err != nil {
		return at, err
	}
	if !amber.At(a.Clock()).Before(at) {
		return at, cli.Usage("--expires %s is in the past", cli.OneLine(text, 40))
	}
	return at, nil
}

// newSecretFile checks --secret-file before a token is made. "" means that the
// secret is printed.
func (a *app) newSecretFile(cmd *cobra.Command, file string) (string, error) {
	if !cmd.Flags().Changed("secret-file") {
		return "", nil
	}
	if file == "" {
		return "", cli.Usage("--secret-file is empty")
	}
	path, err := a.Absolute(file)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", secretFileExists(path)
	}
	return path, nil
}

func secretFileExists(path string) error {
	return amber.Errorf(amber.KindConflict, "write secret", path, "the file exists and is not overwritten")
}

// createToken makes a token and hands out its secret.
func (a *app) createToken(ctx context.Context, d homeLedger, r wire.TokenRequest, file string) error {
	give := a.showSecret
	if file != "" {
		give = func(t wire.NewToken) error { return saveSecret(file, t.Secret) }
	}
	t, err := d.issue(ctx, r, give)
	if err != nil || file == "" {
		return err
	}
	return a.Out.Show(savedToken{t, file}, func(w io.Writer) {
		fmt.Fprintf(w, "made token %s for %s; its secret is in %s\n", t.ID, reach(t), cli.Flat(file))
	})
}

func (a *app) showSecret(t wire.NewToken) error {
	if !a.Global.JSON {
		a.Out.Note("made token %s for %s; its secret is shown only now:", t.ID, reach(t.Token))
	}
	return a.Out.Show(t, func(w io.Writer) { fmt.Fprintln(w, t.Secret) })
}

// saveSecret writes the secret and a line end to a new file.
func saveSecret(path, secret string) error {
	err := fsx.CreateNew(fsx.OS(), path, 0o600, []byte(secret+"\n"))
	switch {
	case errors.Is(err, fs.ErrExist):
		return secretFileExists(path)
	case errors.Is(err, fs.ErrNotExist):
		return amber.Errorf(amber.KindNotFound, "write secret", path, "the folder does not exist")
	}
	return diskerr.Given("write secret", path, err)
}
