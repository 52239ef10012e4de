package engram

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// Bounds of a manifest.
const (
	MaxManifestBytes = 16 << 20
	MaxEntries       = 1 << 17 // far beyond where names of 32 bits collide
)

// Manifest is the list of chunks, in the order in which Engram imports them.
type Manifest struct {
	Version int // 1 or 2
	Chunks  []Entry
	// Notes tell which entries were left out, and why: an id that is not valid, an id that appeared before. They are not
	// written again.
	Notes []string

	extra string // fields this version does not know
}

// Entry is what a manifest says about a chunk. Its fields are not checked against the chunk.
type Entry struct {
	ID        string `json:"id"` // see [ValidID]
	CreatedBy string `json:"created_by"`
	CreatedAt string `json:"created_at"`
	Sessions  int64  `json:"sessions"`
	Memories  int64  `json:"memories"`
	Prompts   int64  `json:"prompts"`

	extra string
}

// ValidID reports whether id is one of a chunk: eight lower-case hexadecimal digits. Nothing else may become part of a
// path.
func ValidID(id string) bool {
	if len(id) != 8 {
		return false
	}
	for i := range len(id) {
		if c := id[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// FileName returns the name of the file of a chunk in the folder chunks.
func FileName(id string) string { return id + ".jsonl.gz" }

// ParseManifest reads a manifest. Versions 1 and 2 are known, fields that are not are kept for [Manifest.Encode]. Entries
// that cannot be used are in Notes. Errors: damaged, for which there is [RepairManifest]; too_new; quota.
func ParseManifest(b []byte) (Manifest, error) {
	const op = "read manifest"
	if len(b) > MaxManifestBytes {
		return Manifest{}, amber.Errorf(amber.KindQuota, op, "", "%d bytes, want at most %d", len(b), MaxManifestBytes)
	}
	var m Manifest
	var version *int
	var chunks json.RawMessage
	extra, _, err := decodeObject(b, field{"version", &version}, field{"chunks", &chunks})
	switch {
	case err != nil:
		return Manifest{}, &amber.Error{Op: op, Kind: amber.KindDamaged, Err: err}
	case version == nil || *version < 1:
		return Manifest{}, amber.Errorf(amber.KindDamaged, op, "", "the manifest has no version")
	case *version > maxManifestVersion:
		return Manifest{}, tooNew(op, *version)
	}
	m.Version, m.extra = *version, extra
	return m, m.list(chunks)
}

const maxManifestVersion = 2

func tooNew(op string, version any) error {
	return amber.Errorf(amber.KindTooNew, op, "", "version %v was written by a later Engram", version)
}

// list reads the entries one by one, so that their number is known before they take memory.
func (m *Manifest) list(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	const op = "read manifest"
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return amber.Errorf(amber.KindDamaged, op, "", "chunks is not a list")
	}
	seen := map[string]bool{}
	var one json.RawMessage
	for n := 0; d.More(); n++ {
		if n == MaxEntries {
			return amber.Errorf(amber.KindQuota, op, "", "more than %d entries", MaxEntries)
		}
		if err := d.Decode(&one); err != nil {
			return &amber.Error{Op: op, Kind: amber.KindDamaged, Err: err}
		}
		m.add(one, n+1, seen)
	}
	return nil
}

// add takes an entry in or notes why not.
func (m *Manifest) add(raw []byte, n int, seen map[string]bool) {
	e, err := decodeEntry(raw)
	switch {
	case err != nil:
		m.note(fmt.Sprintf("entry %d: %v", n, err))
	case seen[e.ID]:
		m.note(fmt.Sprintf("entry %d: chunk %s is listed twice", n, e.ID))
	default:
		seen[e.ID] = true
		m.Chunks = append(m.Chunks, e)
	}
}

var errNoEntry = errors.New("the entry has no id")

func decodeEntry(raw []byte) (Entry, error) {
	var e Entry
	var id *string
	extra, _, err := decodeObject(raw,
		field{"id", &id}, field{"created_by", &e.CreatedBy}, field{"created_at", &e.CreatedAt},
		field{"sessions", &e.Sessions}, field{"memories", &e.Memories}, field{"prompts", &e.Prompts},
	)
	switch {
	case err != nil:
		return Entry{}, err
	case id == nil:
		return Entry{}, errNoEntry
	case !ValidID(*id):
		return Entry{}, fmt.Errorf("%q is not the id of a chunk", clip.Name(*id))
	}
	e.ID, e.extra = *id, extra
	return e, nil
}

// maxNotes bounds what a hostile manifest can make a report say.
const maxNotes = 100

func (m *Manifest) note(s string) {
	switch {
	case len(m.Notes) < maxNotes:
		m.Notes = append(m.Notes, s)
	case len(m.Notes) == maxNotes:
		m.Notes = append(m.Notes, "and more")
	}
}

// Encode writes the manifest as Engram does: two spaces, no end of line, null for no chunks. Version 0 is written as 1.
func (m Manifest) Encode() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"version":%d,"chunks":`, max(m.Version, 1))
	if len(m.Chunks) == 0 {
		b.WriteString("null")
	}
	for i, e := range m.Chunks {
		b.WriteByte("[,"[min(i, 1)])
		b.Write(withExtra(marshal(e), e.extra))
	}
	if len(m.Chunks) > 0 {
		b.WriteByte(']')
	}
	var out bytes.Buffer
	if err := json.Indent(&out, withExtra([]byte(b.String()+"}"), m.extra), "", "  "); err != nil {
		panic("engram: what was encoded is JSON: " + err.Error())
	}
	return out.Bytes()
}
