package keyring

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/wire/sign"
)

// seed is what an ed25519 key is made of. It never shows itself.
type seed [ed25519.SeedSize]byte

const redacted = "[seed]"

// String returns a text that says nothing.
func (seed) String() string { return redacted }

// Format writes that text for every verb.
func (seed) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns that text.
func (seed) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText returns that text.
func (seed) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// signer signs with a key in memory. It shows the name of the key alone.
type signer struct {
	id  sign.KeyID
	key ed25519.PrivateKey
}

var _ sign.Signer = (*signer)(nil)

func newSigner(s seed) *signer {
	key := ed25519.NewKeyFromSeed(s[:])
	return &signer{id: sign.NewKeyID(key.Public().(ed25519.PublicKey)), key: key}
}

// KeyID implements [sign.Signer].
func (s signer) KeyID() sign.KeyID { return s.id }

// Sign implements [sign.Signer].
func (s signer) Sign(ctx context.Context, message []byte) (sign.Signature, error) {
	if err := ctx.Err(); err != nil {
		return sign.Signature{}, err
	}
	return sign.SignWith(s.key, message), nil
}

// String returns the name of the key.
func (s signer) String() string { return string(s.id) }

// Format writes the name of the key for every verb.
func (s signer) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, string(s.id)) }

// LogValue returns the name of the key.
func (s signer) LogValue() slog.Value { return slog.StringValue(string(s.id)) }

const (
	noSeed = "file is not a seed: want 32 bytes, 64 hexadecimal digits, or base64 of 32 bytes"
	// maxSeed is longer than any of these with a line end.
	maxSeed = 128
)

// parseSeed reads a seed. Text may end in one line end. The length decides:
// 32 bytes are the seed itself, whatever they are.
func parseSeed(b []byte) (s seed, ok bool) {
	if len(b) == len(s) {
		return seed(b), true
	}
	text := string(bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r")))
	var raw []byte
	if len(text) == hex.EncodedLen(len(s)) {
		raw, _ = hex.DecodeString(text)
	}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		// Compared, because decoders skip line ends and do not look at the last bits.
		if b, err := e.DecodeString(text); err == nil && len(b) == len(s) && e.EncodeToString(b) == text {
			raw = b
		}
	}
	if len(raw) != len(s) {
		return seed{}, false
	}
	return seed(raw), true
}

// readSeed reads a seed file and also returns its bytes. Errors: not_found;
// refused when others may read it, or when it is not a regular file; damaged
// when it holds no seed.
func readSeed(fsys fsx.FS, path string) (seed, []byte, error) {
	const op = "read signing key"
	b, mode, err := readFile(fsys, path, maxSeed)
	if err != nil {
		e := failed(op, path, err)
		if amber.KindOf(e) == amber.KindNotFound {
			e.(*amber.Error).Hint = "amber key new"
		}
		return seed{}, nil, e
	}
	if hasModes && mode.Perm()&0o077 != 0 {
		return seed{}, nil, amber.Errorf(amber.KindRefused, op, path, "other users may read or write the file: mode is %04o, want 0600", mode.Perm()).
			WithHint("chmod 600 " + path)
	}
	s, ok := parseSeed(b)
	if !ok {
		return seed{}, nil, amber.Errorf(amber.KindDamaged, op, path, "%s", noSeed)
	}
	return s, b, nil
}

// hasModes is false where modes say nothing about who may read a file.
const hasModes = runtime.GOOS != "windows"

// readFile reads the content and the mode of one regular file, through one open file. It returns
// max+1 bytes of a longer file.
func readFile(fsys fsx.FS, path string, max int64) ([]byte, fs.FileMode, error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fsx.ErrNotRegular
	}
	b, err := io.ReadAll(io.LimitReader(f, max+1))
	return b, info.Mode(), err
}
