package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
	"github.com/amber-memory/amber/colony/api"
	"github.com/amber-memory/amber/config"
)

// openVault returns the vault of the agent of s: what the configuration says,
// and the flags over it. Nothing is asked yet. Errors: invalid without a URL, a
// key or one of the files that are named; refused when others may read one.
func (a *app) openVault(ctx context.Context, s *opened, f vaultFlags) (*colony.Vault, error) {
	c := s.config.Config.Vault
	url := strings.TrimRight(cmp.Or(f.url, c.URL), "/")
	backend, err := a.vaultBackend(url, cmp.Or(f.keyFile, c.APIKeyFile), f)
	if err != nil {
		return nil, err
	}
	label, err := vaultLabel(s, f.label)
	if err != nil {
		return nil, err
	}
	o := colony.Options{
		Label: label, Clock: a.clock, Random: a.random,
		RequireSigned: f.requireSigned, Tolerant: f.tolerant, NoVerify: f.noVerify,
		Progress: func(p colony.Progress) { a.meter.set(p.Step, int64(p.Done), int64(p.Total)) },
	}
	if !f.reads {
		if o.Signer, err = a.vaultSigner(ctx, s, f); err != nil {
			return nil, err
		}
		if o.Recipients, err = a.vaultRecipients(s, append(append([]string{}, c.Recipients...), f.recipients...)); err != nil {
			return nil, err
		}
	}
	if o.Trust, err = a.vaultTrust(s, f.trust, o.Signer); err != nil {
		return nil, err
	}
	if o.Identities, err = a.vaultIdentities(s); err != nil {
		return nil, err
	}
	o.Witness = a.vaultWitness(s, url, colony.Label(o.Label))
	if f.late != nil {
		f.late.Witness, o.Witness = o.Witness, f.late
	}
	return colony.Open(backend, o)
}

// vaultLabel is the label as it was given, or the configured one with the agent
// in it, so that agents which share a vault do not share a label. A label is
// kept as it was before slashes became dashes: so two agents whose labels are
// spelled alike notice it.
// Errors: invalid when it cannot be shown, or is a secret.
func vaultLabel(s *opened, flag string) (string, error) {
	label := cmp.Or(flag, s.config.Config.Vault.Label, "default")
	if _, found := s.config.Config.Redactor().String(label); found.Total > 0 || !config.ValidVaultLabel(label) {
		return "", amber.Errorf(amber.KindInvalid, "open vault", "", "the label must be short plain text, and no secret")
	}
	switch {
	case flag != "":
		return flag, nil
	case s.tenantID() == amber.DefaultTenant && s.agentID() == amber.DefaultAgent:
		return label, nil
	}
	return label + "/" + string(s.tenantID()) + "/" + string(s.agentID()), nil
}

// vaultBackend speaks to the service at url.
func (a *app) vaultBackend(url, keyFile string, f vaultFlags) (colony.Backend, error) {
	missing := func(what, hint string) error {
		e := amber.Errorf(amber.KindInvalid, "open vault", "", "%s", what)
		e.Hint = hint
		return e
	}
	switch {
	case url == "":
		return nil, missing("nobody said where it is", "--url URL, or vault.url in the configuration")
	case keyFile == "":
		return nil, missing("nobody said what its key is", "--api-key-file FILE, or vault.api_key_file in the configuration")
	}
	// Read now, so that a file that is not there is told before anything else;
	// and again when it is needed, since a server runs longer than keys last.
	read := func(context.Context) (string, error) {
		if f.key != "" {
			return f.key, nil
		}
		return a.vaultKey(keyFile)
	}
	if _, err := read(context.Background()); err != nil {
		return nil, err
	}
	return api.New(api.Options{URL: url, Clock: a.clock, Wait: f.wait, Notify: a.vaultWaits, Key: read})
}

// worthTelling is how long a wait is that somebody wants to know about.
const worthTelling = 5 * time.Second

// vaultWaits tells that it will take longer, and why.
func (a *app) vaultWaits(w api.Waiting) {
	if w.For >= worthTelling {
		a.out.note("waiting %s for the vault: %s", w.For.Round(time.Second), flat(w.Why))
	}
}
