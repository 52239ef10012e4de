package search

import "sync"

// recent keeps values up to a size, and forgets what was not asked for in a long time. It is
// safe for concurrent use.
type recent[K comparable, V any] struct {
	mu         sync.Mutex
	young, old map[K]V
	size       int // of the young
}

// get returns a value that is kept.
func (r *recent[K, V]) get(k K, size func(V) int, most int) (v V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok = r.young[k]; ok {
		return v, true
	}
	if v, ok = r.old[k]; ok {
		r.keep(k, v, size(v), most)
	}
	return v, ok
}

// put keeps a value. All that is kept is no larger than most, and half of it after the
// younger half was filled.
func (r *recent[K, V]) put(k K, v V, size, most int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(k, v, size, most)
}

func (r *recent[K, V]) keep(k K, v V, size, most int) {
	if size > most/2 {
		return
	}
	if r.size+size > most/2 {
		r.old, r.young, r.size = r.young, nil, 0
	}
	if r.young == nil {
		r.young = map[K]V{}
	}
	if _, had := r.young[k]; !had {
		r.young[k] = v
		r.size += size
	}
}
