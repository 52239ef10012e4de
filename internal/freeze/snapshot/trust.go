package snapshot

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire/sign"
)

// standing completes what is known about a signature: whose key it is.
func (e *Engine) standing(ctx context.Context, s sign.SignatureReport) (sign.SignatureReport, error) {
	if s.Status != sign.SignatureValid {
		return s, nil
	}
	var err error
	s.Standing, err = e.keys.Standing(ctx, s.KeyID)
	return s, err
}

// Acceptable refuses what must not be used. Errors: untrusted for a signature
// that is bad or was taken away; refused for none, or a stranger's, where
// policy asks for one.
func (e *Engine) Acceptable(what string, s sign.SignatureReport) error {
	const op = "check signature"
	switch {
	case s.Status == sign.SignatureBad, s.Status == sign.SignatureStripped:
		return amber.Errorf(amber.KindUntrusted, op, what, "%s", s.Detail)
	case !e.o.Keys.RequireSigned:
		return nil
	case s.Status == sign.SignatureMissing:
		return amber.Errorf(amber.KindRefused, op, what, "not signed, but snapshot.require_signed is set")
	case s.Standing == sign.StandingStranger:
		return amber.Errorf(amber.KindRefused, op, what, "signed by %s, which is not trusted here, but snapshot.require_signed is set", s.KeyID).
			WithHint("if you know whose key that is: amber key trust " + string(s.KeyID))
	}
	return nil
}

// signature returns the result of checking the signature of a manifest.
func (e *Engine) signature(ctx context.Context, entry repo.Entry) (sign.SignatureReport, error) {
	return e.standing(ctx, sign.SignatureReport{Status: entry.Signature.Status, KeyID: entry.Signature.KeyID, Detail: entry.Signature.Detail})
}

// asWritten refuses a manifest that took the place of another: this home has
// noted the digest of the last one it wrote, and a later one names the digest of
// the one before it. Errors: untrusted.
func (rep *repository) asWritten(ctx context.Context, entry repo.Entry) error {
	m := entry.Manifest
	replaced := func(why string) error {
		return amber.Errorf(amber.KindUntrusted, "check chain", string(m.ID), "another manifest has taken its place: %s", why)
	}
	if head, known, err := rep.e.book.loadHead(m.Tenant, m.Agent, m.Device); err == nil && known && head.ID == m.ID && head.Digest != entry.Digest {
		return replaced("this home wrote one with another digest")
	}
	entries, err := rep.catalog.List(ctx, m.Agent)
	if err != nil {
		return err
	}
	for _, later := range entries {
		if later.Problem != nil || later.Manifest.ParentID != m.ID || later.Manifest.Device != m.Device || later.Manifest.Parent == entry.Digest {
			continue
		}
		signature, err := rep.e.signature(ctx, later)
		if err != nil {
			return err
		}
		if signature.Status == sign.SignatureValid && (signature.Standing != sign.StandingStranger || entry.Signature.KeyID != later.Signature.KeyID) {
			return replaced("snapshot " + string(later.Manifest.ID) + " behind it names another digest")
		}
	}
	return nil
}

// linked refuses a snapshot that is not signed though others before it in its
// chain are. Errors: untrusted.
func (rep *repository) linked(ctx context.Context, entry repo.Entry) error {
	if err := rep.asWritten(ctx, entry); err != nil || entry.Signature.Status == sign.SignatureValid {
		return err
	}
	before, err := rep.signedBefore(ctx, entry.Manifest)
	if err != nil || before == 0 {
		return err
	}
	return amber.Errorf(amber.KindUntrusted, "check signature", string(entry.Manifest.ID), "the snapshot is not signed, but snapshot %d of its chain is", before).
		WithHint("amber snapshot verify " + string(entry.Manifest.ID) + ", and restore a snapshot that is signed")
}

// signedBefore returns the counter of a link before one in its chain that
// carries a valid signature, 0 when there is none.
func (rep *repository) signedBefore(ctx context.Context, of repo.Manifest) (int64, error) {
	return rep.catalog.SignedBefore(ctx, of.Agent, of.Device, of.Counter)
}
