package colony

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"

	"github.com/amber-memory/amber"
)

const (
	encryptionAlg = "age"
	// saltBytes go before the documents of an encrypted snapshot.
	saltBytes = 32
)

// encryptionNote is what the manifest of an encrypted snapshot says about it.
func encryptionNote() value {
	v := newObject()
	v.add("alg", newString(encryptionAlg))
	v.add("salt_bytes", newCount(saltBytes))
	return v
}

// knownEncryption reports whether a note is one that this package writes.
func knownEncryption(note value) bool {
	alg, _ := note.member("alg")
	salt, _ := note.member("salt_bytes")
	name, _ := alg.str()
	n, ok := salt.count()
	return name == encryptionAlg && ok && n == saltBytes
}

func encrypt(payload []byte, to []age.Recipient) ([]byte, error) {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to...)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	if _, err := w.Write(payload); err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	err = w.Close() // it writes what is left
	return out.Bytes(), err
}

// decrypt opens a payload. Errors: refused without the right identity, damaged.
func decrypt(id string, payload []byte, with []age.Identity) ([]byte, error) {
	locked := func(why string) error {
		return &amber.Error{
			Op: "read snapshot", Kind: amber.KindRefused, ID: id, Err: errors.New(why),
			Hint: "amber vault restore --identity FILE",
		}
	}
	if len(with) == 0 {
		return nil, locked("the snapshot is encrypted, and no identity was given")
	}
	r, err := age.Decrypt(bytes.NewReader(payload), with...)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, locked("the snapshot is encrypted to other recipients")
	}
	if err != nil {
		return nil, damaged(id, "decrypt: %w", err)
	}
	// No longer than the payload, which is bounded.
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, damaged(id, "decrypt: %w", err)
	}
	return b, nil
}
