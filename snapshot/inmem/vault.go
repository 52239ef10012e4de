package inmem

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/amber-memory/amber"
)

// vault is the repository of one tenant.
type vault struct {
	blobs   map[string][]byte // by the digest of their bytes
	shelves map[amber.AgentID]*shelf
}

// shelf is the snapshots of one agent.
type shelf struct {
	snapshots []*snapshot // in the order they were taken
	// stubs are the links of deleted snapshots.
	stubs map[amber.SnapshotID]link
}

// link is a place in the chain of the snapshots one device took of one agent.
type link struct {
	device  string
	counter int64
	digest  string
}

// snapshot is one that is there.
type snapshot struct {
	meta  amber.SnapshotMeta
	parts []amber.SnapshotPart // their digests are names of blobs
}

func (x *snapshot) link() link { return link{x.meta.Device, x.meta.Counter, x.meta.Digest} }

func (v *vault) shelf(agent amber.AgentID) *shelf {
	if v.shelves[agent] == nil {
		v.shelves[agent] = &shelf{stubs: map[amber.SnapshotID]link{}}
	}
	return v.shelves[agent]
}

// put stores a part unless it is there, and returns how many bytes that took.
func (v *vault) put(p part) (amber.SnapshotPart, int64) {
	digest := digestOf(p.data)
	entry := amber.SnapshotPart{Name: p.name, Bytes: int64(len(p.data)), Count: p.count, Digest: digest}
	if _, ok := v.blobs[digest]; ok {
		return entry, 0
	}
	v.blobs[digest] = p.data
	return entry, entry.Bytes
}

// read returns a part after comparing it with its digest. Errors: damaged.
func (v *vault) read(p amber.SnapshotPart) ([]byte, error) {
	data, ok := v.blobs[p.Digest]
	switch {
	case !ok:
		return nil, amber.Errorf(amber.KindDamaged, "read part", p.Name, "it is not there")
	case digestOf(data) != p.Digest:
		return nil, amber.Errorf(amber.KindDamaged, "read part", p.Name, "its bytes are others")
	}
	return data, nil
}

// contents returns what a snapshot holds. Errors: damaged.
func (v *vault) contents(x *snapshot) (Contents, error) {
	c := Contents{}.clone()
	for _, p := range x.parts {
		data, err := v.read(p)
		if err == nil {
			err = c.decode(p.Name, data)
		}
		if err != nil {
			return c, &amber.Error{Op: "read snapshot", Kind: amber.KindDamaged, ID: string(x.meta.ID), Err: err}
		}
	}
	return c, nil
}

// users returns, for each blob that a snapshot needs, those that do.
func (v *vault) users() map[string][]amber.SnapshotID {
	users := map[string][]amber.SnapshotID{}
	for _, s := range v.shelves {
		for _, x := range s.snapshots {
			for _, p := range x.parts {
				users[p.Digest] = append(users[p.Digest], x.meta.ID)
			}
		}
	}
	for _, ids := range users {
		slices.Sort(ids)
	}
	return users
}

// tip returns the last link of a chain, deleted or not; zero when there is
// none.
func (s *shelf) tip(device string) link {
	var tip link
	for _, l := range s.links() {
		if l.device == device && l.counter > tip.counter {
			tip = l
		}
	}
	return tip
}

func (s *shelf) links() []link {
	var all []link
	for _, l := range s.stubs {
		all = append(all, l)
	}
	for _, x := range s.snapshots {
		all = append(all, x.link())
	}
	return all
}

// checkChain looks for what a snapshot follows: each but the first names the
// digest of a link that is there.
func (s *shelf) checkChain(x *snapshot) error {
	m := x.meta
	if m.Counter == 1 && m.Parent == "" {
		return nil
	}
	if slices.Contains(s.links(), link{m.Device, m.Counter - 1, m.Parent}) {
		return nil
	}
	return errors.New("what it follows is neither a snapshot nor a stub")
}

// newestFirst returns the snapshots in the order they are listed.
func (s *shelf) newestFirst() []*snapshot {
	list := slices.Clone(s.snapshots)
	slices.SortFunc(list, func(a, b *snapshot) int { return -placeOf(a).compare(placeOf(b)) })
	return list
}

func (s *shelf) delete(x *snapshot) {
	s.stubs[x.meta.ID] = x.link()
	s.snapshots = slices.DeleteFunc(s.snapshots, func(y *snapshot) bool { return x == y })
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// seal returns the digest of what never changes about a snapshot.
func seal(m amber.SnapshotMeta, parts []amber.SnapshotPart) string {
	m.Digest, m.Pinned = "", false
	data, err := json.Marshal(struct {
		Meta  amber.SnapshotMeta
		Parts []amber.SnapshotPart
	}{m, parts})
	if err != nil {
		panic("inmem: a manifest always marshals: " + err.Error())
	}
	return digestOf(data)
}
