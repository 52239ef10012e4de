package repo

import (
	"crypto/sha256"
	"sync"
)

// maxRemembered bounds the manifests that are remembered: each takes about half a kilobyte.
const maxRemembered = 1 << 14

// Manifests remembers manifests that were read, by the digest of their bytes. A list of thousands
// of snapshots reads every manifest again, to see that it is there and what it says; the checks
// of one that has not changed need not be repeated. The zero value is ready. Safe for concurrent
// use.
type Manifests struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]rememberedManifest
}

// rememberedManifest is what was found in the bytes of a manifest. It has no pointers, so that no caller can change
// what is remembered.
type rememberedManifest struct {
	manifest Manifest
	sealed   sealed
}

// unseal reads the bytes of a manifest. Only what is whole is remembered; r may be nil.
func (r *Manifests) unseal(object []byte) (Manifest, sealed, error) {
	if r == nil {
		return unsealManifest(object)
	}
	key := sha256.Sum256(object)
	r.mu.Lock()
	known, ok := r.known[key]
	r.mu.Unlock()
	if ok {
		return known.manifest, known.sealed, nil
	}
	m, s, err := unsealManifest(object)
	if err != nil {
		return m, s, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= maxRemembered {
		r.known = map[[sha256.Size]byte]rememberedManifest{}
	}
	r.known[key] = rememberedManifest{m, s}
	return m, s, nil
}

func unsealManifest(object []byte) (m Manifest, s sealed, err error) {
	s, err = unseal(object, manifestFormat, manifestVersion, &m)
	return m, s, err
}
