package vaultapi

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"io"
	"time"

	"github.com/amber-memory/amber"
)

// tokenLife is how long an access token is good for.
const tokenLife = 24 * time.Hour

// seal makes access tokens of API keys and reads them. A token is the key and the
// instant it ends, encrypted with a key that this process has made up, or that all servers of a
// database share. With one that was made up nothing is kept, and after a restart clients exchange their keys again.
type seal struct {
	aead   cipher.AEAD
	random io.Reader
}

// newSeal makes a seal of a key of 32 bytes; nil makes one up.
func newSeal(key []byte, random io.Reader) (*seal, error) {
	if key == nil {
		key = make([]byte, 32)
		if _, err := io.ReadFull(random, key); err != nil {
			return nil, &amber.Error{Op: "make key", Kind: amber.KindInternal, Err: err}
		}
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, &amber.Error{Op: "make key", Kind: amber.KindInternal, Err: err}
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, &amber.Error{Op: "make key", Kind: amber.KindInternal, Err: err}
	}
	return &seal{aead, random}, nil
}

// close returns the access token of a secret.
func (s *seal) close(secret string, now time.Time) (string, error) {
	nonce := make([]byte, s.aead.NonceSize())
	if _, err := io.ReadFull(s.random, nonce); err != nil {
		return "", &amber.Error{Op: "make token", Kind: amber.KindInternal, Err: err}
	}
	plain := binary.BigEndian.AppendUint64(nil, uint64(now.Add(tokenLife).UnixMilli()))
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nonce, nonce, append(plain, secret...), nil)), nil
}

// open returns the secret of an access token that is one and has not ended.
func (s *seal) open(token string, now time.Time) (secret string, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) < s.aead.NonceSize() {
		return "", false
	}
	plain, err := s.aead.Open(nil, b[:s.aead.NonceSize()], b[s.aead.NonceSize():], nil)
	if err != nil || len(plain) < 8 {
		return "", false
	}
	ends := time.UnixMilli(int64(binary.BigEndian.Uint64(plain)))
	return string(plain[8:]), now.Before(ends)
}
