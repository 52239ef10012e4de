package repo

import (
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
)

// SetPackBytes makes packs smaller, so that tests need fewer bytes.
func (r *Repo) SetPackBytes(n int64) { r.packBytes = n }

// KeyParts returns everything that holds key material of a repository.
func KeyParts(r *Repo) map[string]any {
	k := r.keys().current
	s := secretText(hex.EncodeToString(k.master[:]))
	return map[string]any{
		"secret": k.master, "key": k, "key for ids": k.ids, "text": s, "key in a box": boxKey{Secret: s},
		"pointer to a secret": &k.master, "list": []secret{k.master}, "struct": struct{ Secret secret }{k.master},
	}
}

// LogKeyParts logs them.
func LogKeyParts(w io.Writer, r *Repo) {
	for _, h := range []slog.Handler{slog.NewTextHandler(w, nil), slog.NewJSONHandler(w, nil)} {
		for name, v := range KeyParts(r) {
			if name != "key in a box" { // which is JSON that is encrypted
				slog.New(h).Info(name, "value", v)
			}
		}
	}
}

// ForgeKeys returns a key record for a repository and a serial, with a new key,
// or, without random, the keys of r, that its recipients can open.
func ForgeKeys(r *Repo, repository string, serial int64, recipients []agekey.Recipient, random io.Reader) []byte {
	now := amber.At(time.Unix(1e9, 0))
	keys := r.keys().ordered
	if random != nil {
		k, err := randomKey(random, now)
		if err != nil {
			panic(err)
		}
		keys = []*key{k}
	}
	object, err := r.sealKeys(context.Background(), "forge", &keyRecord{Repository: repository, Serial: serial, CreatedAt: now}, recipients, keys)
	if err != nil {
		panic(err)
	}
	return object
}
