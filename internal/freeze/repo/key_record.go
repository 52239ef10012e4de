package repo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/wire/sign"
)

// Names of key records:
//
//	keys/<serial, 8 decimal digits>.json
const (
	keyPrefix  = "keys/"
	keyFormat  = "amber-key"
	keyVersion = 1
	boxFormat  = "amber-keys"
)

// Bounds of key records.
const (
	maxKeySerial     = 99_999_999
	maxKeyRecipients = 64
	maxKeys          = 256
	maxRecipient     = 4096 // bytes of one

	repositoryIDBytes = 16
)

// keyRecord says who may read a repository and holds its keys, encrypted to
// them. A change is a record with the next serial; the one with the greatest
// counts.
type keyRecord struct {
	Format     string     `json:"format"`
	Version    int        `json:"version"`
	Repository string     `json:"repository"` // 32 hexadecimal digits that no other repository has
	Serial     int64      `json:"serial"`
	Current    string     `json:"current"`    // names the key that new things are sealed with
	Keys       []string   `json:"keys"`       // names all keys in the box, in the order in which they were made
	Recipients []string   `json:"recipients"` // who can open the box
	CreatedAt  amber.Time `json:"created_at"`
	Box        string     `json:"box"` // a binary age file in base64: see keyBox

	Signer sign.KeyID `json:"signer,omitempty"` // whose signature belongs to it
}

func (r *keyRecord) signer() sign.KeyID { return r.Signer }

func (r *keyRecord) check() error {
	_, keyErr := parseKeyID(r.Current)
	err := cmp.Or(checkRepositoryID(r.Repository), keyErr, checkRecipients(r.Recipients), envelope.CheckTime("created_at", r.CreatedAt))
	if err != nil {
		return err
	}
	if r.Serial < 1 || r.Serial > maxKeySerial {
		return fmt.Errorf("serial %d is out of range", r.Serial)
	}
	if err := r.checkKeys(); err != nil {
		return err
	}
	_, err = r.box()
	return err
}

func checkRepositoryID(s string) error {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != repositoryIDBytes || hex.EncodeToString(b) != s {
		return errors.New("the id of the repository is not 32 lower-case hexadecimal digits")
	}
	return nil
}

// checkKeys checks the names of keys. The last one is the current one.
func (r *keyRecord) checkKeys() error {
	if len(r.Keys) < 1 || len(r.Keys) > maxKeys || r.Keys[len(r.Keys)-1] != r.Current {
		return fmt.Errorf("the record has %d keys, or the last is not the current one", len(r.Keys))
	}
	seen := map[string]bool{}
	for _, k := range r.Keys {
		if _, err := parseKeyID(k); err != nil || seen[k] {
			return errors.New("the name of a key is not valid, or occurs twice")
		}
		seen[k] = true
	}
	return nil
}

// box returns the bytes of the age file.
func (r *keyRecord) box() ([]byte, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(r.Box)
	// Without line breaks, which the decoder would skip.
	if err != nil || len(b) == 0 || strings.ContainsAny(r.Box, "\r\n") {
		return nil, errors.New("the encrypted keys are not base64")
	}
	return b, nil
}

func checkRecipients(list []string) error {
	if len(list) < 1 || len(list) > maxKeyRecipients {
		return fmt.Errorf("record has %d recipients, want 1 to %d", len(list), maxKeyRecipients)
	}
	seen := map[string]bool{}
	for _, r := range list {
		if err := unique(seen, "recipient", r, maxRecipient); err != nil {
			return err
		}
	}
	return nil
}

// keyBox is what the recipients can open: the keys, and once more the fields that stand outside the box, where any
// person who writes to the target could change them.
type keyBox struct {
	Format     string   `json:"format"`
	Version    int      `json:"version"`
	Repository string   `json:"repository"`
	Serial     int64    `json:"serial"`
	Recipients []string `json:"recipients"`
	Keys       []boxKey `json:"keys"` // in the order in which they were made; the last is the current one

	Signer sign.KeyID `json:"signer,omitempty"`
}

type boxKey struct {
	ID        string     `json:"id"`
	Secret    secretText `json:"secret"` // 64 hexadecimal digits
	CreatedAt amber.Time `json:"created_at"`
}

// secretText is a secret on its way into a box or out of it. It is not printed.
type secretText string

// Format implements [fmt.Formatter].
func (secretText) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, redacted) }

// LogValue implements [slog.LogValuer].
func (secretText) LogValue() slog.Value { return slog.StringValue(redacted) }

func (b *keyBox) check() error {
	if len(b.Keys) < 1 || len(b.Keys) > maxKeys {
		return fmt.Errorf("record has %d keys, want 1 to %d", len(b.Keys), maxKeys)
	}
	for _, k := range b.Keys {
		if err := envelope.CheckTime("created_at", k.CreatedAt); err != nil {
			return err
		}
	}
	return nil
}

// key returns the key, if it has the name it should have.
func (b *boxKey) key() (*key, error) {
	s := secret{}
	raw, err := hex.DecodeString(string(b.Secret))
	if err != nil || copy(s[:], raw) != len(s) || len(raw) != len(s) {
		return nil, errors.New("a secret is not 64 hexadecimal digits")
	}
	k := newKey(s, b.CreatedAt)
	if k.id.String() != b.ID {
		return nil, errors.New("the name of a key does not match its secret")
	}
	return k, nil
}

// boxOf returns the box of a record, for keys of which the current one is the
// last.
func boxOf(r *keyRecord, keys []*key) *keyBox {
	b := &keyBox{
		Format: boxFormat, Version: keyVersion, Repository: r.Repository, Serial: r.Serial, Recipients: r.Recipients, Signer: r.Signer,
	}
	for _, k := range keys {
		b.Keys = append(b.Keys, boxKey{k.id.String(), secretText(hex.EncodeToString(k.master[:])), k.created})
	}
	return b
}

// encrypt returns the box as an age file in base64.
func (b *keyBox) encrypt(recipients []age.Recipient) (string, error) {
	plain, err := envelope.Canonical(b)
	if err != nil {
		return "", errors.New("the keys cannot be written")
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, recipients...)
	if err == nil {
		_, err = w.Write(plain)
		if cerr := w.Close(); err == nil {
			err = cerr
		}
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), err
}

// errNoIdentity says that none of the identities opens a box.
var errNoIdentity = errors.New("no identity opens the key record")

// open returns the keys of a record, in the order in which they were made. The
// error is errNoIdentity, or means damage. It never quotes what is in the box.
func (r *keyRecord) open(identities []age.Identity) ([]*key, error) {
	if len(identities) == 0 {
		return nil, errNoIdentity
	}
	b, err := r.box()
	if err != nil {
		return nil, err
	}
	plain, err := unbox(b, identities)
	if err != nil {
		return nil, err
	}
	var in keyBox
	if err := envelope.CheckFormat(plain, boxFormat, keyVersion); err != nil {
		return nil, err
	}
	if strict(plain, &in) != nil {
		return nil, errors.New("the decrypted content is not a list of keys")
	}
	var names []string
	keys := make([]*key, len(in.Keys))
	for i := range in.Keys {
		if keys[i], err = in.Keys[i].key(); err != nil {
			return nil, err
		}
		names = append(names, keys[i].name())
	}
	if in.Repository != r.Repository || in.Serial != r.Serial || in.Signer != r.Signer ||
		!slices.Equal(names, r.Keys) || !slices.Equal(in.Recipients, r.Recipients) {
		return nil, errors.New("the encrypted keys belong to another record")
	}
	return keys, nil
}

// unbox opens an age file.
func unbox(b []byte, identities []age.Identity) ([]byte, error) {
	in, err := age.Decrypt(bytes.NewReader(b), identities...)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, errNoIdentity
	}
	var plain []byte
	if err == nil {
		plain, err = io.ReadAll(io.LimitReader(in, maxRecordBytes))
	}
	if err != nil {
		return nil, fmt.Errorf("the keys cannot be decrypted: %v", err)
	}
	return plain, nil
}

func keyRecordName(serial int64) string {
	return fmt.Sprintf("%s%08d%s", keyPrefix, serial, recordSuffix)
}

// keySerial reads the name of a key record; ok is false for other objects.
func keySerial(name string) (serial int64, ok bool) {
	digits := strings.TrimSuffix(strings.TrimPrefix(name, keyPrefix), recordSuffix)
	for _, d := range digits {
		if d < '0' || d > '9' || serial > maxKeySerial {
			return 0, false
		}
		serial = serial*10 + int64(d-'0')
	}
	return serial, serial > 0 && keyRecordName(serial) == name
}

// keySerials lists the key records of a target, the newest last.
func keySerials(ctx context.Context, t target.Target) (serials []int64, err error) {
	err = t.List(ctx, keyPrefix, func(o target.Object) error {
		if serial, ok := keySerial(o.Name); ok {
			serials = append(serials, serial)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list key records: %w", err)
	}
	slices.Sort(serials)
	return serials, nil
}

// storedKeys is a key record as it was read.
type storedKeys struct {
	*keyRecord
	object    []byte
	signature SignatureState
}

// readKeyRecord reads a key record. Errors: not_found; damaged, also for a
// signature that does not match; too_new; those of the target.
func readKeyRecord(ctx context.Context, t target.Target, serial int64) (*storedKeys, error) {
	name := keyRecordName(serial)
	object, err := readSmall(ctx, t, name)
	if err != nil {
		return nil, err
	}
	r := &storedKeys{keyRecord: &keyRecord{}, object: object}
	state, err := unseal(object, keyFormat, keyVersion, r.keyRecord)
	switch {
	case err != nil:
		return nil, damaged("read object", name, err)
	case r.Serial != serial:
		return nil, damaged("read object", name, fmt.Errorf("the content is record %d", r.Serial))
	case state.signature.Untrusted():
		return nil, damaged("read object", name, state.signature.problem())
	}
	r.signature = state.signature
	return r, nil
}

// newestKeys reads the key record of a target that counts, nil when there is
// none. Errors: those of readKeyRecord.
func newestKeys(ctx context.Context, t target.Target) (*storedKeys, error) {
	serials, err := keySerials(ctx, t)
	if err != nil || len(serials) == 0 {
		return nil, err
	}
	return readKeyRecord(ctx, t, serials[len(serials)-1])
}

// names reports whether a record names all keys of another one. Names are
// public: it says nothing about what is in the box.
func (r *keyRecord) names(other *keyRecord) bool {
	return !slices.ContainsFunc(other.Keys, func(k string) bool { return !slices.Contains(r.Keys, k) })
}
