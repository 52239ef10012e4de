package sqlrows

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
)

const (
	SelectHeads    = `SELECT version FROM versions WHERE memory_id = ? AND head = 1 AND stored = 1`
	selectStored   = `SELECT version FROM versions WHERE memory_id = ? AND stored = 1`
	hasVersion     = `SELECT EXISTS (SELECT 1 FROM versions WHERE memory_id = ? AND version = ? AND stored = 1)`
	SeeVersion     = `INSERT INTO versions (memory_id, version, saw, head, stored) VALUES (?, ?, '', 0, 0) ON CONFLICT (memory_id, version) DO UPDATE SET head = 0 WHERE versions.head = 1`
	upsertVersion  = `INSERT INTO versions (memory_id, version, saw, head, stored) VALUES (?, ?, ?, 1, 1) ON CONFLICT (memory_id, version) DO UPDATE SET saw = excluded.saw, stored = 1`
	namesVersion   = `SELECT EXISTS (SELECT 1 FROM versions WHERE memory_id = ? AND version = ?)`
	KeepVersion    = `INSERT INTO versions (memory_id, version, saw, head, stored) VALUES (?, ?, '', 1, 1) ON CONFLICT DO NOTHING`
	deleteVersions = `DELETE FROM versions WHERE memory_id = ?`
)

// MaxSaw is how many versions one version names, as [amber.SyncRecord.Check] allows. Versions that
// an edit cannot name stay in conflict until the next edit.
const MaxSaw = 64

// VersionOf names a version as the table versions does.
func VersionOf(o amber.Origin) string {
	return fmt.Sprintf("%d.%d.%s", o.Counter, uint64(o.Clock), o.Device)
}

// ParseVersion reads what versionOf writes. The error is of kind damaged: only
// a row can be wrong.
func ParseVersion(s string) (amber.Origin, error) {
	counter, rest, _ := strings.Cut(s, ".")
	clock, device, found := strings.Cut(rest, ".")
	c, cerr := strconv.ParseUint(counter, 10, 63)
	k, kerr := strconv.ParseUint(clock, 10, 63)
	o := amber.Origin{Device: device, Counter: c, Clock: amber.Stamp(k)}
	if !found || cerr != nil || kerr != nil || VersionOf(o) != s {
		return amber.Origin{}, unreadable("versions", "", "the version is not counter, clock and device")
	}
	return o, nil
}

// JoinVersions returns the column saw: names of versions, one a line, since a
// device may have a space in its name.
func JoinVersions(saw []amber.Origin) string {
	names := make([]string, len(saw))
	for i, o := range saw {
		names[i] = VersionOf(o)
	}
	return strings.Join(names, "\n")
}

// SplitVersions reads what joinVersions writes.
func SplitVersions(s string) ([]amber.Origin, error) {
	var saw []amber.Origin
	for _, name := range SplitLines(s) {
		o, err := ParseVersion(name)
		if err != nil {
			return nil, err
		}
		saw = append(saw, o)
	}
	return saw, nil
}

// Heads returns the versions of a memory whose text is here and that no other
// has seen, the latest first. A memory without rows has one version.
func (t *Tx) Heads(m amber.Memory) ([]amber.Origin, error) {
	heads, err := All(t, ScanVersion, SelectHeads, m.ID)
	if err != nil {
		return nil, err
	}
	if len(heads) == 0 {
		return []amber.Origin{m.Origin}, nil
	}
	slices.SortFunc(heads, LatestFirst)
	return heads, nil
}

// Highest returns the highest counter of a memory: what came from a folder that
// has no say in the newest version may be above it.
func (t *Tx) Highest(m amber.Memory) (uint64, error) {
	stored, err := All(t, ScanVersion, selectStored, m.ID)
	most := m.Origin.Counter
	for _, o := range stored {
		most = max(most, o.Counter)
	}
	return most, err
}

func LatestFirst(a, b amber.Origin) int {
	switch {
	case a.After(b):
		return -1
	case b.After(a):
		return 1
	}
	return 0
}

// NoteVersion notes a version whose text is here, and the versions that its author had seen. None
// of those is a head any longer, whether it has arrived or not. A version that is already known
// keeps its state: another version may have seen it before its text came.
func (t *Tx) NoteVersion(id amber.MemoryID, v amber.Origin, saw []amber.Origin) error {
	for _, o := range saw {
		if err := t.Do(SeeVersion, id, VersionOf(o)); err != nil {
			return fmt.Errorf("note version: %w", err)
		}
	}
	if err := t.Do(upsertVersion, id, VersionOf(v), JoinVersions(saw)); err != nil {
		return fmt.Errorf("note version: %w", err)
	}
	return nil
}

// Supersede notes a version that was made here and has seen every head of
// prev, which settles their conflict, and whatever else is seen.
func (t *Tx) Supersede(prev amber.Memory, next amber.Origin, seen ...amber.Origin) error {
	saw, err := t.Heads(prev)
	if err != nil {
		return err
	}
	if !slices.Contains(saw, prev.Origin) { // a device without a say claims to have seen it
		saw = append([]amber.Origin{prev.Origin}, saw...)
	}
	for _, o := range seen {
		var named bool // then a head has seen it, or it is one
		if err := t.Row(namesVersion, prev.ID, VersionOf(o)).Scan(&named); err != nil {
			return err
		}
		if !named && o != prev.Origin {
			saw = append(saw, o)
		}
	}
	// A first edit makes the rows of both versions, a later one its own.
	if err := t.Do(KeepVersion, prev.ID, VersionOf(prev.Origin)); err != nil {
		return fmt.Errorf("keep version: %w", err)
	}
	return t.NoteVersion(prev.ID, next, saw[:min(len(saw), MaxSaw)])
}

// KnowsVersion reports whether the text of a version is here, of a memory that
// has more than one.
func (t *Tx) KnowsVersion(id amber.MemoryID, o amber.Origin) (known bool, err error) {
	err = t.Row(hasVersion, id, VersionOf(o)).Scan(&known)
	return known, err
}

func ScanVersion(s scanner) (amber.Origin, error) {
	var name string
	if err := s.Scan(&name); err != nil {
		return amber.Origin{}, err
	}
	return ParseVersion(name)
}
