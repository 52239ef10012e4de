package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
)

// Whoever can write to a repository can give it another key, one that they know
// too. So this home notes, outside the repository, which key it last encrypted
// with, and takes another one only from who is trusted:
//
//	amber-key 1
//	key 0123456789abcdef
//	serial 3
const (
	keyNoteMagic = "amber-key 1"
	maxKeyNote   = 256
)

// keyNote is the key of a repository as this home knows it; the zero value
// means that it knows none.
type keyNote struct {
	key    string
	serial int64
}

func (n keyNote) marshal() []byte {
	return fmt.Appendf(nil, "%s\nkey %s\nserial %d\n", keyNoteMagic, n.key, n.serial)
}

func (e *Engine) keyNotePath(tenant amber.TenantID) string {
	return filepath.Join(e.o.Home.KeysDir(), "repositories", hexName(e.o.Repositories.Name(tenant)))
}

func (e *Engine) loadKeyNote(tenant amber.TenantID) (keyNote, error) {
	path := e.keyNotePath(tenant)
	b, err := fsx.ReadFile(e.o.FS, path, maxKeyNote)
	if errors.Is(err, fs.ErrNotExist) {
		return keyNote{}, nil
	}
	var n keyNote
	if err == nil {
		if _, serr := fmt.Sscanf(string(b), keyNoteMagic+"\nkey %s\nserial %d\n", &n.key, &n.serial); serr != nil || !bytes.Equal(b, n.marshal()) {
			return keyNote{}, amber.Errorf(amber.KindDamaged, "read key note", path, "it is not what was written")
		}
	}
	return n, fail("read key note", path, err)
}

func (e *Engine) saveKeyNote(v *vault) error {
	path := e.keyNotePath(v.tenant)
	err := fsx.MkdirAll(e.o.FS, filepath.Dir(path), 0o700)
	if err == nil {
		err = fsx.Replace(e.o.FS, path, 0o600, keyNote{v.repo.KeyID(), v.repo.KeySerial()}.marshal())
	}
	return fail("write key note", path, err)
}

// knownKey refuses to encrypt with a key that somebody else may have put there.
// Errors: untrusted; refused where policy asks for a signature.
func (e *Engine) knownKey(ctx context.Context, v *vault) error {
	const op = "encrypt snapshot"
	note, err := e.loadKeyNote(v.tenant)
	if err != nil {
		return err
	}
	now := keyNote{v.repo.KeyID(), v.repo.KeySerial()}
	if note == now {
		return nil
	}
	s := v.repo.KeySignature()
	signature, err := e.standing(ctx, amber.SignatureReport{Status: s.Status, KeyID: s.KeyID, Detail: s.Detail})
	if err != nil {
		return err
	}
	known := signature.Status == amber.SignatureValid && signature.Standing != amber.StandingStranger
	switch {
	case note.serial > now.serial:
		return amber.Errorf(amber.KindUntrusted, op, v.repo.KeyID(), fmt.Sprintf("the repository was set back to its key record %d, and %d was there", now.serial, note.serial))
	case known, note == keyNote{} && e.acceptable("the key of the repository", signature) == nil:
		return e.saveKeyNote(v)
	case note == keyNote{}:
		return e.acceptable("the key of the repository", signature)
	}
	changed := amber.Errorf(amber.KindUntrusted, op, v.repo.KeyID(), "who may read the repository was changed by somebody who is not trusted here")
	changed.Hint = "amber repo recipients list; if that was right, remove " + e.keyNotePath(v.tenant)
	return changed
}
