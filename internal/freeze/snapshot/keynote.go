package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/wire/sign"
)

// Anyone who can write to a repository can give it a key of their own. So this
// home notes, outside the repository, which key it last encrypted with, and
// accepts another key only when a trusted signer has set it:
//
//	amber-key 1
//	key 0123456789abcdef
//	serial 3
//	repository 00112233445566778899aabbccddeeff
const (
	keyNoteMagic = "amber-key 1"
	maxKeyNote   = 256
)

// keyNote is the key of a repository as this home knows it; the zero value
// means that it knows none.
type keyNote struct {
	key    string
	serial int64
	id     string // of the repository the record belongs to
}

func noteOf(rep *repository) keyNote {
	return keyNote{rep.KeyID(), rep.KeySerial(), rep.RepositoryID()}
}

func (n keyNote) marshal() []byte {
	return fmt.Appendf(nil, "%s\nkey %s\nserial %d\nrepository %s\n", keyNoteMagic, n.key, n.serial, n.id)
}

func (n notebook) keyNotePath(tenant amber.TenantID) string {
	return filepath.Join(n.o.Home.KeysDir(), "repositories", hexName(n.repositoryName(tenant)))
}

func (n notebook) loadKeyNote(tenant amber.TenantID) (keyNote, error) {
	path := n.keyNotePath(tenant)
	b, err := fsx.ReadFile(n.o.FS, path, maxKeyNote)
	if errors.Is(err, fs.ErrNotExist) {
		return keyNote{}, nil
	}
	var k keyNote
	if err == nil {
		if _, serr := fmt.Sscanf(string(b), keyNoteMagic+"\nkey %s\nserial %d\nrepository %s\n", &k.key, &k.serial, &k.id); serr != nil || !bytes.Equal(b, k.marshal()) {
			return keyNote{}, amber.Errorf(amber.KindDamaged, "read key note", path, "the content is not what Amber wrote")
		}
	}
	return k, fail("read key note", path, err)
}

func (n notebook) saveKeyNote(rep *repository) error {
	path := n.keyNotePath(rep.tenant)
	return fail("write key note", path, replaceIn(n.o.FS, path, noteOf(rep).marshal()))
}

// knownKey refuses to encrypt with a key that another person may have put into the repository.
// Errors: untrusted; refused where policy asks for a signature.
func (rep *repository) knownKey(ctx context.Context) error {
	const op = "encrypt snapshot"
	note, err := rep.e.book.loadKeyNote(rep.tenant)
	if err != nil {
		return err
	}
	now := noteOf(rep)
	if note == now {
		return nil
	}
	s := rep.KeySignature()
	signature, err := rep.e.standing(ctx, sign.SignatureReport{Status: s.Status, KeyID: s.KeyID, Detail: s.Detail})
	if err != nil {
		return err
	}
	known := signature.Status == sign.SignatureValid && signature.Standing != sign.StandingStranger
	switch {
	case note.serial > now.serial:
		return amber.Errorf(amber.KindUntrusted, op, rep.KeyID(), "the repository shows key record %d, but record %d was seen before", now.serial, note.serial)
	case note == keyNote{}:
		if err := rep.e.Acceptable("the key of the repository", signature); err != nil {
			return err
		}
		if err := rep.onlyWanted(ctx, known); err != nil {
			return err
		}
		return rep.e.book.saveKeyNote(rep)
	case known && note.id == now.id && rep.HasKey(note.key):
		return rep.e.book.saveKeyNote(rep)
	}
	return amber.Errorf(amber.KindUntrusted, op, rep.KeyID(), "the recipients of the repository were changed by a key that is not trusted here").
		WithHint("amber repo recipients list; if the change is right, remove " + rep.e.book.keyNotePath(rep.tenant))
}

// onlyWanted checks a repository key that this home has not seen before. If the configuration names
// recipients and the signer of the key is not trusted here, the key must not have any recipient
// besides these and this home's own identities. Errors: untrusted.
func (rep *repository) onlyWanted(ctx context.Context, known bool) error {
	want, err := rep.e.keys.recipients()
	if err != nil || known || len(want) == 0 {
		return err
	}
	have, err := rep.Recipients(ctx)
	if err != nil {
		return err
	}
	ids, err := rep.e.keys.identities()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if own, ok := agekey.RecipientOf(id); ok {
			want = append(want, own)
		}
	}
	for _, r := range have {
		if !slices.Contains(textsOf(want), r) {
			return amber.Errorf(amber.KindUntrusted, "encrypt snapshot", r, "a key that is not trusted here added this recipient, and the configuration does not name it").
				WithHint("amber repo recipients list; if you know who added it: amber key trust KEY")
		}
	}
	return nil
}
