package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/survey"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/store/home"
)

// notebook is what this home writes down about its repositories, outside of them: ends of chains, keys, checks that were made, and
// what spares the next snapshot work.
type notebook struct{ o Options }

// Caches spare the next snapshot work and are never believed: page digests are
// compared with the manifest they belong to, files with their stat, and what
// cannot be read is made again. Errors are therefore none of the caller's
// concern.
const (
	pagesMagic   = "AmberPg2"
	maxPages     = 512 << 20 // bytes of a cache of page digests
	maxFileCache = 64 << 20
)

// cachePath returns a file of an agent's cache. Names are of this package or
// of sources, which are folder names.
func (n notebook) cachePath(agent *home.Agent, name string) string {
	return filepath.Join(n.o.Home.CacheDir(), "snapshot", string(agent.Tenant()), string(agent.ID()), name)
}

func (n notebook) writeCache(path string, data []byte) {
	_ = replaceIn(n.o.FS, path, data)
}

// replaceIn replaces a file of the owner's, in a folder that is made if it is missing.
func replaceIn(disk fsx.FS, path string, data []byte) error {
	if err := fsx.MkdirAll(disk, filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return fsx.Replace(disk, path, 0o600, data)
}

// loadJSON reads a cache of at most max bytes that begins with the digest of the
// rest. It reports false for a cache that is missing or damaged.
func loadJSON[T any](n notebook, path string, max int64) (v T, ok bool) {
	b, err := fsx.ReadFile(n.o.FS, path, max)
	sum, body, _ := bytes.Cut(b, []byte("\n"))
	digest := sha256.Sum256(body)
	ok = err == nil && string(sum) == hex.EncodeToString(digest[:]) && json.Unmarshal(body, &v) == nil
	return v, ok
}

// saveJSON writes a cache that loadJSON reads.
func (n notebook) saveJSON(path string, v any) {
	body, err := json.Marshal(v)
	if err != nil || len(body) > maxFileCache {
		return
	}
	digest := sha256.Sum256(body)
	n.writeCache(path, append([]byte(hex.EncodeToString(digest[:])+"\n"), body...))
}

// loadBase returns the page digests of the database that ref describes, nil
// when the cache does not have them.
func (n notebook) loadBase(agent *home.Agent, name string, ref repo.DatabaseRef) *repo.Base {
	b, err := fsx.ReadFile(n.o.FS, n.cachePath(agent, "pages-"+name), maxPages)
	// The maps lead to the pages that are not stored again: they must be those
	// that were written with these digests.
	front := pagesFront(ref)
	head := len(front)
	if err != nil || !bytes.HasPrefix(b, front) || (len(b)-head)%sha256.Size != 0 {
		return nil
	}
	b = b[head:]
	if int64(len(b)/sha256.Size) != ref.Pages {
		return nil
	}
	digests := make([]repo.PageDigest, ref.Pages)
	for i := range digests {
		copy(digests[i][:], b[i*sha256.Size:])
	}
	if repo.DatabaseDigest(ref.PageSize, digests) != ref.Digest {
		return nil
	}
	return &repo.Base{Ref: ref, Digests: digests}
}

// pagesFront is what stands before the digests: the magic and a digest of the
// maps.
func pagesFront(ref repo.DatabaseRef) []byte {
	h := sha256.New()
	for _, id := range ref.Maps {
		h.Write(id[:])
	}
	return h.Sum([]byte(pagesMagic))
}

func (n notebook) saveBase(agent *home.Agent, name string, base repo.Base) {
	digests := base.Digests
	front := pagesFront(base.Ref)
	if len(digests) > (maxPages-len(front))/sha256.Size {
		return
	}
	b := make([]byte, 0, len(front)+len(digests)*sha256.Size)
	b = append(b, front...)
	for _, d := range digests {
		b = append(b, d[:]...)
	}
	n.writeCache(n.cachePath(agent, "pages-"+name), b)
}

// record is a file whose content is in the repository. A cache tells no names:
// what is encrypted elsewhere must not lie here.
type record struct {
	Name  string       `json:"name"`  // hexName of its path
	Entry survey.Entry `json:"entry"` // what the file looked like; in a cache without its path
	Seen  int64        `json:"seen"`  // when the survey began, in nanoseconds
	Size  int64        `json:"size"`
	Parts []repo.ID    `json:"parts"`
}

// unchanged reports whether the repository has the content of a file for
// certain.
func (r record) unchanged(e survey.Entry) bool {
	now := survey.Survey{Entries: []survey.Entry{e}}
	return now.Same(r.Entry, time.Unix(0, r.Seen))
}

// loadRecords returns the files of a part that an earlier snapshot read, by
// hexName.
func (n notebook) loadRecords(agent *home.Agent, part string) map[string]record {
	list, _ := loadJSON[[]record](n, n.cachePath(agent, "files-"+part), maxFileCache)
	known := make(map[string]record, len(list))
	for _, r := range list {
		known[r.Name] = r
	}
	return known
}

func (n notebook) saveRecords(agent *home.Agent, part string, list []record) {
	for i := range list {
		list[i].Name, list[i].Entry.Path = hexName(list[i].Entry.Path), ""
	}
	n.saveJSON(n.cachePath(agent, "files-"+part), list)
}

// seenRecord is how much of a chain has been read.
type seenRecord struct {
	Counter int64              `json:"counter"`
	ID      amber.SnapshotID   `json:"id"`
	Digest  string             `json:"digest"`
	IDs     []amber.SnapshotID `json:"ids"`
}

// loadSeen returns what need not be read again of a chain. It is compared with
// the names in the repository.
func (n notebook) loadSeen(agent *home.Agent, device string) repo.Seen {
	r, ok := loadJSON[seenRecord](n, n.cachePath(agent, "chain-"+hexName(device)), maxFileCache)
	if !ok {
		return repo.Seen{}
	}
	return repo.Seen{Tip: repo.Link{Counter: r.Counter, ID: r.ID, Digest: r.Digest}, IDs: r.IDs}
}

func (n notebook) saveSeen(agent *home.Agent, device string, s repo.Seen) {
	n.saveJSON(n.cachePath(agent, "chain-"+hexName(device)), seenRecord{s.Tip.Counter, s.Tip.ID, s.Tip.Digest, s.IDs})
}

// hexName makes a file name of any text.
func hexName(s string) string {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(len(s)))
	sum := sha256.Sum256(append(b[:], s...))
	return hex.EncodeToString(sum[:16])
}
