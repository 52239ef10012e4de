package share

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/api"
	"github.com/amber-memory/amber/internal/share/colony/documents"
	"github.com/amber-memory/amber/wire/sign"
)

// openVault returns the vault of the agent of s: the configuration with the flags
// over it. The vault is not asked yet. Errors: invalid without a URL, an API key
// or a file that is named; refused when others may read one.
func (a *app) openVault(ctx context.Context, s *cli.Opened, f vaultFlags) (*colony.Vault, error) {
	c := s.Config.Config.Vault
	backend, err := a.vaultBackend(vaultURL(s, f), cmp.Or(f.keyFile, c.APIKeyFile), f)
	if err != nil {
		return nil, err
	}
	o := colony.Options{
		Clock: a.Clock, Random: a.Random, RequireSigned: f.requireSigned, Tolerant: f.tolerant, NoVerify: f.noVerify,
		Progress: func(p colony.Progress) { a.Meter.Set(p.Step, int64(p.Done), int64(p.Total)) },
	}
	if o.Label, err = vaultLabel(s, f.label); err != nil {
		return nil, err
	}
	ring := a.Ring(s.Home)
	if !f.reads {
		if o.Signer, err = a.vaultSigner(ctx, s, f); err != nil {
			return nil, err
		}
		if o.Recipients, err = ring.EncryptTo(append(append([]string{}, c.Recipients...), f.recipients...)); err != nil {
			return nil, err
		}
	}
	if o.Trust, err = ring.TrustAlso(f.trust, o.Signer); err != nil {
		return nil, err
	}
	keys, err := a.Access.Resolve(a.App)
	if err != nil {
		return nil, err
	}
	if path := s.Config.Config.Snapshot.Encryption.Identity; path != "" {
		keys.Identities = append(keys.Identities, path)
	}
	if o.Identities, err = ring.Identities(keys.Identities); err != nil {
		return nil, err
	}
	o.Witness = vaultWitness(s, f, o.Label)
	if f.seen != nil {
		f.seen.Witness, o.Witness = o.Witness, f.seen
	}
	return colony.Open(backend, o)
}

func vaultURL(s *cli.Opened, f vaultFlags) string {
	return strings.TrimRight(cmp.Or(f.url, s.Config.Config.Vault.URL), "/")
}

// vaultWitness remembers in the home what was seen of a label.
func vaultWitness(s *cli.Opened, f vaultFlags, label string) colony.Witness {
	of := colony.VaultOf{URL: vaultURL(s, f), Tenant: s.TenantID(), Agent: s.AgentID()}
	return colony.NewFileWitness(filepath.Join(s.Home.Dir(), "vaults"), of, label)
}

// vaultLabel is the label of the flag, or the configured one for this agent.
// Errors: invalid when it is not printable, or contains a secret.
func vaultLabel(s *cli.Opened, flag string) (string, error) {
	label := cmp.Or(flag, s.Config.Config.Vault.Label, colony.DefaultLabel)
	if _, found := s.Config.Config.Redactor().String(label); found.Total > 0 || !config.ValidVaultLabel(label) {
		return "", amber.Errorf(amber.KindInvalid, "open vault", "", "the label must be short plain text without secrets")
	}
	if flag != "" {
		return flag, nil
	}
	return colony.AgentLabel(label, s.TenantID(), s.AgentID()), nil
}

// vaultBackend speaks to the service at url. The API key is read now, so that a
// missing file is reported first, and again when the service wants it anew: a
// server runs longer than keys last.
func (a *app) vaultBackend(url, keyFile string, f vaultFlags) (colony.Backend, error) {
	missing := func(what, hint string) error {
		return amber.Errorf(amber.KindInvalid, "open vault", "", "%s", what).WithHint(hint)
	}
	switch {
	case url == "":
		return nil, missing("the URL of the vault is not set", "--url URL, or vault.url in the file that amber config path names")
	case keyFile == "":
		return nil, missing("the API key of the vault is not set", "--api-key-file FILE, or vault.api_key_file in the file that amber config path names")
	}
	read := func(context.Context) (string, error) {
		if f.key != "" {
			return f.key, nil
		}
		return a.vaultKey(keyFile)
	}
	if _, err := read(context.Background()); err != nil {
		return nil, err
	}
	return api.New(api.Options{URL: url, Clock: a.Clock, Wait: f.wait, Notify: a.vaultWaits, Key: read})
}

// vaultWaits reports waits that are long enough for a person to notice.
func (a *app) vaultWaits(w api.Waiting) {
	if w.For >= 5*time.Second {
		a.Out.Note("waiting %s for the vault: %s", w.For.Round(time.Second), cli.Flat(w.Why))
	}
}

// stdinKey is the key file when the API key comes on stdin.
const stdinKey = "-"

// vaultKey reads the API key of a vault. Errors: invalid; refused when others may
// read the file.
func (a *app) vaultKey(file string) (string, error) {
	const op = "read vault key"
	var text string
	var err error
	if file == stdinKey {
		text, err = a.Text(stdinKey, cli.MaxSecret)
	} else {
		text, err = a.SecretFile(op, a.Followed(file))
	}
	if err != nil {
		return "", localError(err)
	}
	key := strings.TrimSpace(text)
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", amber.Errorf(amber.KindInvalid, op, file, "want one API key of printable ASCII and nothing else")
	}
	return key, nil
}

// vaultSigner is the key that signs new snapshots: that of a file, the home's own,
// or nil.
func (a *app) vaultSigner(ctx context.Context, s *cli.Opened, f vaultFlags) (sign.Signer, error) {
	if f.sign != "" && f.sign != signWithHome {
		path, err := a.Absolute(f.sign)
		if err != nil {
			return nil, err
		}
		return keyring.ReadSigner(path)
	}
	return a.signer(ctx, s, f.sign != "" || s.Config.Config.Vault.Sign && !f.noSign)
}

// vaultOwn names the key files and secrets that no backup takes along.
func (a *app) vaultOwn(s *cli.Opened, f vaultFlags) documents.Own {
	own, ring := documents.Own{Rules: s.Config.Config.Redactor()}, a.Ring(s.Home)
	own.SetHome(s.Home.Dir())
	own.AddFile(ring.IdentityFile())
	own.AddSeed(ring.SeedFile())
	own.AddSecret(f.key)
	files := append([]string{s.Config.Config.Snapshot.Encryption.Identity, cmp.Or(f.keyFile, s.Config.Config.Vault.APIKeyFile)}, a.Access.Identities...)
	for _, file := range files {
		if path, err := a.Absolute(file); err == nil && file != "" && file != stdinKey {
			own.AddFile(path)
		}
	}
	if path, err := a.Absolute(f.sign); err == nil && f.sign != "" && f.sign != signWithHome {
		own.AddSeed(path)
	}
	return own
}
