package snapshot

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/repo"
)

// standing completes what is known about a signature: whose key it is.
func (e *Engine) standing(ctx context.Context, s amber.SignatureReport) (amber.SignatureReport, error) {
	if s.Status != amber.SignatureValid {
		return s, nil
	}
	var err error
	s.Standing, err = e.o.Keys.Standing(ctx, s.KeyID)
	return s, err
}

// acceptable refuses what must not be used. Errors: untrusted for a signature
// that is bad or was taken away; refused for none, or a stranger's, where
// policy asks for one.
func (e *Engine) acceptable(what string, s amber.SignatureReport) error {
	const op = "check signature"
	switch {
	case s.Status == amber.SignatureBad, s.Status == amber.SignatureStripped:
		return amber.Errorf(amber.KindUntrusted, op, what, s.Detail)
	case !e.o.RequireSigned:
		return nil
	case s.Status == amber.SignatureMissing:
		return amber.Errorf(amber.KindRefused, op, what, "it is not signed, and snapshot.require_signed is set")
	case s.Standing == amber.StandingStranger:
		err := amber.Errorf(amber.KindRefused, op, what, fmt.Sprintf("it is signed by %s, which is not trusted here, and snapshot.require_signed is set", s.KeyID))
		err.Hint = "if you know whose key that is: amber key trust " + string(s.KeyID)
		return err
	}
	return nil
}

// Acceptable says whether what carries a signature may be used, going by what
// became of checking that. Errors: untrusted; refused by policy.
func (e *Engine) Acceptable(what string, s amber.SignatureReport) error { return e.acceptable(what, s) }

// signature tells what became of checking the signature of a manifest.
func (e *Engine) signature(ctx context.Context, entry repo.Entry) (amber.SignatureReport, error) {
	return e.standing(ctx, amber.SignatureReport{Status: entry.Signature.Status, KeyID: entry.Signature.KeyID, Detail: entry.Signature.Detail})
}

// linked refuses a snapshot that is not signed though others before it in its
// chain are. Errors: untrusted.
func (e *Engine) linked(ctx context.Context, v *vault, entry repo.Entry) error {
	if entry.Signature.Status == amber.SignatureValid {
		return nil
	}
	before, err := v.signedBefore(ctx, entry.Manifest)
	if err != nil || before == 0 {
		return err
	}
	unsigned := amber.Errorf(amber.KindUntrusted, "check signature", string(entry.Manifest.ID), fmt.Sprintf("it is not signed, and snapshot %d of its chain is", before))
	unsigned.Hint = "if it was you who took it without a signature: restore with --accept-unsigned"
	return unsigned
}

// signedBefore returns the counter of a link before one in its chain that
// carries a valid signature, 0 when there is none.
func (v *vault) signedBefore(ctx context.Context, of repo.Manifest) (int64, error) {
	link, _, found, err := v.catalog.SignedBefore(ctx, of.Agent, of.Device, of.Counter)
	if err != nil || !found {
		return 0, err
	}
	return link.Counter, nil
}
