package inmem

import "github.com/amber-memory/amber"

// Damage changes the bytes under a digest; with nil they are gone.
func (s *Snapshotter) Damage(tenant amber.TenantID, digest string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if data == nil {
		delete(s.vault(tenant).blobs, digest)
		return
	}
	s.vault(tenant).blobs[digest] = data
}

// LoseStubs makes every chain with a deleted link a broken one.
func (s *Snapshotter) LoseStubs(tenant amber.TenantID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, shelf := range s.vault(tenant).shelves {
		clear(shelf.stubs)
	}
}
