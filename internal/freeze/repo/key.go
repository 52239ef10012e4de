package repo

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"slices"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/amber-memory/amber"
)

// The values that are derived from a repository key, with HKDF-SHA-256 and no salt. The name reveals nothing about the
// others.
const (
	keyName    = "amber repository 1 name"
	keyForIDs  = "amber repository 1 ids"
	keyForData = "amber repository 1 data"
)

// Sealed bytes are
//
//	 0   8  name of the key
//	 8  24  nonce
//	32      what the plaintext compresses to, or the plaintext, encrypted
//	    16  tag
const (
	nonceBytes   = chacha20poly1305.NonceSizeX
	sealedHead   = len(keyID{}) + nonceBytes
	sealedTail   = chacha20poly1305.Overhead
	sealedBytes  = sealedHead + sealedTail // beyond what was sealed
	sealedDomain = "amber sealed 1\x00"
)

// keyID names a repository key. It is no secret.
type keyID [8]byte

// String returns 16 lower-case hexadecimal digits.
func (k keyID) String() string { return hex.EncodeToString(k[:]) }

// parseKeyID reads what String writes.
func parseKeyID(s string) (keyID, error) {
	var k keyID
	if len(s) == hex.EncodedLen(len(k)) {
		if _, err := hex.Decode(k[:], []byte(s)); err == nil && k.String() == s {
			return k, nil
		}
	}
	return keyID{}, errors.New("the name of a key is not 16 lower-case hexadecimal digits")
}

// secret is 32 bytes that no person may see: however it is printed, logged or encoded, it says only that it is a
// secret.
type secret [32]byte

const redacted = "(secret)"

// Format implements [fmt.Formatter].
func (secret) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, redacted) }

// LogValue implements [slog.LogValuer].
func (secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements [encoding.TextMarshaler].
func (secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// key is a repository key and what is derived from it. The nil key is that of
// what is not encrypted. Safe for concurrent use.
type key struct {
	id      keyID
	master  secret
	ids     secret
	data    cipher.AEAD
	created amber.Time
}

// Format implements [fmt.Formatter]: the parts of a key are not printed.
func (k *key) Format(s fmt.State, _ rune) {
	if k != nil {
		_, _ = io.WriteString(s, "key "+k.id.String())
	}
}

// newKey makes a key of its secret.
func newKey(master secret, created amber.Time) *key {
	k := &key{master: master, created: created}
	copy(k.id[:], derive(master, keyName, len(k.id)))
	copy(k.ids[:], derive(master, keyForIDs, len(k.ids)))
	data, err := chacha20poly1305.NewX(derive(master, keyForData, chacha20poly1305.KeySize))
	if err != nil {
		panic("chacha20poly1305: " + err.Error())
	}
	k.data = data
	return k
}

func derive(master secret, purpose string, n int) []byte {
	b, err := hkdf.Key(sha256.New, master[:], nil, purpose, n)
	if err != nil {
		panic("hkdf: " + err.Error())
	}
	return b
}

// hash returns the function that ids are made with.
func (k *key) hash() hash.Hash {
	if k == nil {
		return sha256.New()
	}
	return hmac.New(sha256.New, k.ids[:])
}

func (k *key) blobID(kind Kind, plain []byte) ID { return blobID(k.hash(), kind, plain) }

func (k *key) pagesID(pageSize int, digests []PageDigest) ID {
	return pagesID(k.hash(), pageSize, digests)
}

// name is what others call the key: "" for none.
func (k *key) name() string {
	if k == nil {
		return ""
	}
	return k.id.String()
}

// bound is what is authenticated with the bytes of a blob: they are of no use
// under another id or as something else.
func bound(e *entry) []byte {
	b := make([]byte, 0, len(sealedDomain)+3+len(e.id))
	b = append(b, sealedDomain...)
	b = append(b, byte(e.kind), byte(e.compression), e.pageShift)
	return append(b, e.id[:]...)
}

// seal returns the stored bytes of a blob in buf, which may grow. The plaintext b lies in buf behind sealedHead bytes,
// and then nothing is copied, or nowhere in buf.
func (k *key) seal(random io.Reader, e *entry, b, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], len(b)+sealedBytes)[:sealedHead]
	copy(buf, k.id[:])
	nonce := buf[len(k.id):sealedHead]
	if _, err := io.ReadFull(random, nonce); err != nil {
		return nil, fmt.Errorf("seal blob: %w", err)
	}
	return k.data.Seal(buf, nonce, b, bound(e)), nil
}

var errSealed = errors.New("the encrypted bytes do not belong to this blob, or were changed")

// open undoes seal. The result lies in dst, which may grow.
func (k *key) open(e *entry, stored, dst []byte) ([]byte, error) {
	if len(stored) < sealedBytes {
		return nil, errSealed
	}
	b, err := k.data.Open(dst[:0], stored[len(k.id):sealedHead], stored[sealedHead:], bound(e))
	if err != nil {
		return nil, errSealed
	}
	return b, nil
}

// sealer returns the name of the key that stored bytes are sealed with.
func sealer(stored []byte) (k keyID) {
	copy(k[:], stored)
	return k
}
