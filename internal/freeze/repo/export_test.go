package repo

import (
	"context"
	"crypto/sha256"
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

// PagesID returns the id of a blob of pages, in a repository that is not
// encrypted. It is made of the digests of the pages, so that a caller that has
// them need not hash the pages again. See [Repo.PagesID].
func PagesID(pageSize int, digests []PageDigest) ID { return pagesID(sha256.New(), pageSize, digests) }

// PagesID returns the id that a blob of pages has when it is put now; the zero
// ID when the repository is locked.
func (r *Repo) PagesID(pageSize int, digests []PageDigest) ID {
	if c := r.keys(); c.closed == nil {
		return c.current.pagesID(pageSize, digests)
	}
	return ID{}
}

// GitObject reads one object of a set. To read several, use [Repo.OpenGitSet]. Errors: those of [GitSet.Object].
func (r *Repo) GitObject(ctx context.Context, root ID, oid string) (GitObject, error) {
	g, err := r.OpenGitSet(ctx, root)
	if err != nil {
		return GitObject{}, err
	}
	return g.Object(ctx, oid)
}

// Count returns how many objects the set has.
func (g *GitSet) Count() int64 { return g.root.objects() }

// Tree reads a folder: its entries in the order of their names, checked. A
// name is at most 255 bytes of UTF-8 without a slash or a zero byte, not "."
// and not ".."; no two are alike or differ only in case. It may still be one
// that the host reserves or gives another meaning. Errors: those of
// [Repo.Get]; damaged.
func (r *Repo) Tree(ctx context.Context, id ID) ([]TreeEntry, error) {
	return r.newStream().tree(ctx, id)
}

// Location says where a blob lies.
type Location struct {
	Pack   ID
	Kind   Kind
	Offset int64
	Stored int64 // bytes in the pack
	Plain  int64 // bytes of the plaintext
	Sealed bool  // it is encrypted
}

// Find tells where a blob lies, as far as the index knows. It may be in a pack
// that is missing when there is no other place.
func (r *Repo) Find(id ID) (Location, bool) {
	places := r.places(id)
	if len(places) == 0 {
		return Location{}, false
	}
	l := places[0]
	return Location{
		Pack: l.pack, Kind: l.kind,
		Offset: int64(l.offset), Stored: int64(l.stored), Plain: int64(l.plain), Sealed: l.sealed,
	}, true
}

// Tip is [Catalog.TipSince] for a caller that has seen nothing.
func (c *Catalog) Tip(ctx context.Context, agent amber.AgentID, device string) (Link, error) {
	seen, err := c.TipSince(ctx, agent, device, Seen{})
	return seen.Tip, err
}
