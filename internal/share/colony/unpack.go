package colony

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// readOptions say how a snapshot is read.
type readOptions struct {
	// Label and ID are what the names of its files say; "": what the manifest
	// declares.
	Label string
	ID    SnapshotID

	// Tolerant notes what a strict reader refuses, where the documents are
	// still sure. NoVerify leaves the signature unchecked.
	Tolerant, NoVerify bool
	// RequireSigned refuses what is not signed by a trusted key.
	RequireSigned bool
	// Trust tells how far a key is trusted; nil: no key is known.
	Trust func(ctx context.Context, key sign.KeyID) (sign.Standing, error)

	Identities []age.Identity // for an encrypted one
	MaxBytes   int64          // of the plaintext; 0: DefaultMaxBytes
}

// reading is one snapshot that is being read.
type reading struct {
	m      manifest
	o      readOptions
	checks Checks
	broken string // the first part whose digest is another
}

// object notes what a strict reader refuses; for that one it is the error.
func (r *reading) object(why string) error {
	if r.o.Tolerant {
		r.checks.Relaxed = append(r.checks.Relaxed, why)
		return nil
	}
	return &amber.Error{
		Op: "read snapshot", Kind: amber.KindDamaged, ID: r.m.subject(r.o),
		Err: errors.New(why), Hint: otherHint,
	}
}

// fail returns the error for content that no reader can read. It names the broken part where one is known.
func (r *reading) fail(format string, args ...any) error {
	err := damaged(r.m.subject(r.o), format, args...)
	if r.broken != "" {
		return damaged(r.broken, "the part is not what was uploaded (%w)", err)
	}
	return err
}

// subject names the snapshot in errors.
func (m manifest) subject(o readOptions) string {
	return string(cmp.Or(o.ID, m.Info.ID))
}

// Check checks what can be checked without the parts: the signature, then every
// declared field. Errors: untrusted, damaged, unsupported, quota when it declares
// more than may be read, and what Trust returns.
func (m manifest) Check(ctx context.Context, o readOptions) (Checks, error) {
	r := reading{m: m, o: o}
	err := r.check(ctx)
	return r.checks, err
}

func (r *reading) check(ctx context.Context) error {
	status, objection, err := r.m.checkSignature(ctx, r.o)
	if err != nil {
		return err
	}
	r.checks.Signature = status
	objections := slices.Clone(r.m.objections)
	if objection != "" {
		objections = append(objections, objection)
	}
	if r.o.Label != "" && r.m.Info.Label != r.o.Label {
		objections = append(objections, "the label is "+quote(r.m.Info.Label))
	}
	if r.o.ID != "" && r.m.Info.ID != "" && r.m.Info.ID != r.o.ID {
		objections = append(objections, "the snapshot_id is "+quote(string(r.m.Info.ID)))
	}
	for _, why := range objections {
		if err := r.object(why); err != nil {
			return err
		}
	}
	if err := r.checkEncryption(); err != nil {
		return err
	}
	if err := r.checkNames(); err != nil {
		return err
	}
	r.checks.Declared = len(r.checks.Relaxed) == 0
	return r.checkSize()
}

func (r *reading) checkEncryption() error {
	note, _ := r.m.value.member("encryption")
	if r.m.Info.Encrypted && !knownEncryption(note) {
		return amber.Errorf(amber.KindUnsupported, "read snapshot", r.m.subject(r.o), "the encryption is not known to this program")
	}
	return nil
}

// checkNames checks that every part belongs to this snapshot. A name of another
// file is refused in any case: the attacker who planted it wants that file read.
func (r *reading) checkNames() error {
	label, id := r.o.Label, r.o.ID
	label = cmp.Or(label, r.m.Info.Label)
	id = cmp.Or(id, r.m.Info.ID)
	seen, inOrder := make(map[string]bool), true
	for i, name := range r.m.PartFiles {
		n, ok := parseName(name)
		if !ok || n.Kind != partFile || n.Label != label || n.ID != id {
			return damaged(r.m.subject(r.o), "part_files names %s, which is not a part of this snapshot", quote(name))
		}
		if seen[name] {
			return damaged(r.m.subject(r.o), "part_files names %s twice", quote(name))
		}
		seen[name] = true
		inOrder = inOrder && n.Seq == i
	}
	if !inOrder {
		return r.object("the part_files are not in order")
	}
	return nil
}

func (r *reading) checkSize() error {
	most := maxBytes(r.o.MaxBytes)
	if !r.o.Tolerant && r.m.Info.ByteSize > most {
		return tooBig(r.m.subject(r.o), most)
	}
	return nil
}

func tooBig(id string, most int64) error {
	return amber.Errorf(amber.KindQuota, "read snapshot", id, "the snapshot has more than %d bytes, which is the limit", most)
}

// unpack checks a snapshot and returns its documents. parts are the contents of
// the files that m.PartFiles names, in that order. Errors as [manifest.Check], and
// refused when it is encrypted and no identity opens it.
func unpack(ctx context.Context, m manifest, parts []string, o readOptions) (Documents, Checks, error) {
	r := reading{m: m, o: o}
	if err := r.check(ctx); err != nil {
		return nil, r.checks, err
	}
	docs, err := r.documents(ctx, parts)
	r.checks.Declared = len(r.checks.Relaxed) == 0
	if err != nil {
		return nil, r.checks, err
	}
	return docs, r.checks, nil
}

func (r *reading) documents(ctx context.Context, parts []string) (Documents, error) {
	blob, err := r.blob(ctx, parts)
	if err != nil {
		return nil, err
	}
	payload, err := r.decodeBlob(blob)
	if err != nil {
		return nil, err
	}
	if r.m.Info.Encrypted {
		if payload, err = decrypt(r.m.subject(r.o), payload, r.o.Identities); err != nil {
			return nil, err
		}
	}
	plaintext, err := r.decompress(payload)
	if err != nil {
		return nil, err
	}
	return r.parse(plaintext)
}
