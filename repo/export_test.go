package repo

import (
	"encoding/hex"
	"io"
	"log/slog"
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
