package repo

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/wire"
)

const (
	innerFormat  = "amber-inner"
	innerVersion = 1
)

// Inner is the inner manifest of a snapshot: what it holds, each part with its
// digest, what was skipped and why, and which checks were made. It is a blob.
type Inner struct {
	Format  string `json:"format"`  // filled in by [Writer.PutInner]
	Version int    `json:"version"` // likewise

	Databases   []DatabaseEntry `json:"databases"`
	Notes       *FilesEntry     `json:"notes"`
	Git         *GitEntry       `json:"git"` // the history of the notes
	State       *FilesEntry     `json:"state"`
	Journal     *FilesEntry     `json:"journal"` // entries that no database has yet
	Marks       []JournalMark   `json:"marks"`   // how far each session was drained
	Sources     []SourceEntry   `json:"sources"`
	Skipped     []wire.Skipped  `json:"skipped"`
	SkippedMore int64           `json:"skipped_more"` // that are not listed
	Checks      []wire.Check    `json:"checks"`

	// The fields below are not written when they are empty.
	Label string     `json:"label,omitempty"` // of an encrypted snapshot, when it is not outside
	By    wire.Asker `json:"by,omitzero"`     // who asked for an encrypted snapshot
	Salt  string     `json:"salt,omitempty"`  // of an encrypted snapshot: 32 random digits, so that no two have one inner manifest
}

// DatabaseEntry is a database.
type DatabaseEntry struct {
	Name          string      `json:"name"` // "memory.db"; in a source the path, slash-separated
	ApplicationID int64       `json:"application_id"`
	Schema        int64       `json:"schema"`
	Ref           DatabaseRef `json:"ref"`
	Damage        string      `json:"damage"` // at the source; "" for nothing found
}

// FilesEntry is a folder of files.
type FilesEntry struct {
	Tree  ID    `json:"tree"`
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

// GitEntry is the history of a folder.
type GitEntry struct {
	Head    string        `json:"head"`     // "refs/heads/main", or an object when detached
	HeadOID string        `json:"head_oid"` // "" for a branch without a commit
	Refs    []GitRefEntry `json:"refs"`     // in the order of their names
	Set     ID            `json:"set"`      // of the objects
	Objects int64         `json:"objects"`
	Bytes   int64         `json:"bytes"` // of the objects
	// Commit is what the commit of HEAD says of itself; nil where there is none, and in snapshots of earlier versions.
	Commit *wire.GitCommit `json:"commit,omitempty"`
}

// GitRefEntry is a branch or a tag.
type GitRefEntry struct {
	Name string `json:"name"`
	OID  string `json:"oid"`
}

// JournalMark says how far the journal of a session was drained when the
// snapshot was taken.
type JournalMark struct {
	Key       string          `json:"key"` // the name of its file in the tree Journal, if it has one
	Host      string          `json:"host"`
	SessionID amber.SessionID `json:"session_id"`
	Cursor    string          `json:"cursor"`
	Drained   int64           `json:"drained"` // the last sequence that is in the databases
	Last      int64           `json:"last"`    // the last sequence that is in the snapshot
	Frames    int64           `json:"frames"`  // captured
}

// SourceEntry is memory that is not Amber's.
type SourceEntry struct {
	Name      string          `json:"name"`
	Fenced    bool            `json:"fenced"` // false: each part at an instant of its own
	Files     *FilesEntry     `json:"files"`
	Databases []DatabaseEntry `json:"databases"`
	Git       *GitEntry       `json:"git"`
}

// PutInner stores an inner manifest and returns the id of its blob. Text that is not valid UTF-8, or too long, is made
// fit; skipped things behind the first 10 000, or the first MiB of names, are counted. In an encrypted repository no
// two inner manifests are equal: it puts a salt into each, and [Writer.Sealed] returns the digest of its stored bytes.
// Errors: invalid, there also for what names a blob that is not encrypted; those of [Writer.Put].
func (w *Writer) PutInner(ctx context.Context, in Inner) (ID, error) {
	if w.codec.current != nil {
		salt := make([]byte, saltBytes)
		if _, err := io.ReadFull(w.codec.random, salt); err != nil {
			return ID{}, fmt.Errorf("write inner manifest: %w", err)
		}
		in.Salt = hex.EncodeToString(salt)
		if err := w.onlySealed("write inner manifest", in.roots()); err != nil {
			return ID{}, err
		}
	}
	b, err := EncodeInner(in)
	if err != nil {
		return ID{}, err
	}
	return w.Put(ctx, KindManifest, b)
}

// roots returns the blobs that an inner manifest names.
func (in *Inner) roots() (ids []ID) {
	databases, folders, histories := in.Databases, []*FilesEntry{in.Notes, in.State, in.Journal}, []*GitEntry{in.Git}
	for i := range in.Sources {
		s := &in.Sources[i]
		databases = append(databases[:len(databases):len(databases)], s.Databases...)
		folders, histories = append(folders, s.Files), append(histories, s.Git)
	}
	for i := range databases {
		ids = append(ids, databases[i].Ref.Maps...)
	}
	for _, f := range folders {
		if f != nil {
			ids = append(ids, f.Tree)
		}
	}
	for _, g := range histories {
		if g != nil {
			ids = append(ids, g.Set)
		}
	}
	return ids
}

// Inner reads and checks the inner manifest of a snapshot. Errors: those of
// [Repo.Get], where a missing blob is damage; for an encrypted snapshot those of
// [Repo.CheckSealed]; too_new.
func (r *Repo) Inner(ctx context.Context, m Manifest) (Inner, error) {
	const op = "read inner manifest"
	s := r.newStream()
	read := s.plainInner
	if m.Encrypted {
		read = s.sealedInner
	}
	b, err := read(ctx, m)
	switch {
	case amber.KindOf(err) == amber.KindNotFound:
		return Inner{}, amber.Errorf(amber.KindDamaged, op, string(m.ID), "no index object knows blob %v", m.Inner)
	case err != nil:
		return Inner{}, err
	}
	in, err := DecodeInner(b.Data)
	if err != nil {
		return Inner{}, damaged(op, string(m.ID), err)
	}
	return in, nil
}

// plainInner reads the inner manifest of a snapshot that is not encrypted.
func (s *stream) plainInner(ctx context.Context, m Manifest) (Blob, error) {
	b, err := s.typed(ctx, m.Inner, KindManifest)
	if err == nil && b.Key != "" {
		err = damaged("read inner manifest", string(m.ID), errors.New("the inner manifest is encrypted, but the manifest does not say so"))
	}
	return b, err
}

// sealedInner reads the inner manifest of an encrypted snapshot.
func (s *stream) sealedInner(ctx context.Context, m Manifest) (Blob, error) {
	p, err := s.storedInner(ctx, m)
	if err != nil {
		return Blob{}, err
	}
	b, err := s.opener.open(&p.entry, s.stored)
	if err != nil {
		return Blob{}, damaged("read inner manifest", string(m.ID), err)
	}
	return b, nil
}

// CheckSealed compares the stored bytes of the inner manifest of an encrypted
// snapshot with what its manifest says about them. It needs no key. Errors:
// invalid for a snapshot that is not encrypted; damaged; those of the target.
func (r *Repo) CheckSealed(ctx context.Context, m Manifest) error {
	if !m.Encrypted {
		return amber.Errorf(amber.KindInvalid, "check inner manifest", string(m.ID), "the inner manifest is not encrypted")
	}
	_, err := r.newStream().storedInner(ctx, m)
	return err
}

// storedInner reads the stored bytes of the inner manifest of an encrypted
// snapshot, from the first of its places that holds them.
func (s *stream) storedInner(ctx context.Context, m Manifest) (*place, error) {
	const op = "read inner manifest"
	first := damaged(op, string(m.ID), fmt.Errorf("no index object knows blob %v", m.Inner))
	for i, p := range s.repo.places(m.Inner) {
		err := s.fetch(ctx, &p)
		if err == nil {
			if err = m.checkStored(&p.entry, s.stored); err == nil {
				return &p, nil
			}
			err = damaged(op, string(m.ID), fmt.Errorf("in %s: %w", packName(p.pack), err))
		}
		if !isProblem(err) {
			return nil, err
		}
		if i == 0 {
			first = err
		}
	}
	return nil, first
}

// checkStored compares the stored bytes of an inner manifest with what the
// manifest says about them.
func (m *Manifest) checkStored(e *entry, stored []byte) error {
	switch {
	case e.kind != KindManifest || !e.sealed:
		return errors.New("the blob is not an encrypted inner manifest")
	case envelope.Digest(stored) != m.Sealed:
		return errors.New("the stored bytes do not match the manifest")
	case sealer(stored).String() != m.Key:
		return errors.New("the blob is encrypted with another key than the manifest says")
	}
	return checkStored(e, stored)
}

// EncodeInner returns the bytes of an inner manifest, canonical JSON. It makes values fit to be written, as
// [Writer.PutInner] says. The error is of kind invalid.
func EncodeInner(in Inner) ([]byte, error) {
	in = in.finished()
	err := in.check()
	var b []byte
	if err == nil {
		b, err = envelope.Canonical(&in)
	}
	if err == nil && len(b) > maxInnerBytes {
		err = fmt.Errorf("manifest has %d bytes, want at most %d", len(b), maxInnerBytes)
	}
	if err != nil {
		return nil, &amber.Error{Op: "write inner manifest", Kind: amber.KindInvalid, Err: errors.New(err.Error())}
	}
	return b, nil
}

// DecodeInner reads what [EncodeInner] writes, byte for byte. Errors: too_new;
// damaged.
func DecodeInner(b []byte) (Inner, error) {
	const op = "read inner manifest"
	var in Inner
	err := error(nil)
	if len(b) > maxInnerBytes {
		err = fmt.Errorf("manifest has %d bytes, want at most %d", len(b), maxInnerBytes)
	}
	if err == nil {
		err = envelope.CheckFormat(b, innerFormat, innerVersion)
	}
	if err == nil {
		err = strict(b, &in)
	}
	if err != nil {
		return Inner{}, damaged(op, "", err)
	}
	return in, nil
}

// finished returns in as it is written: no list is nil, and what the world
// outside calls its files can be said in JSON. Nothing of in is changed.
func (in Inner) finished() Inner {
	in.Format, in.Version = innerFormat, innerVersion
	in.Databases = finishedDatabases(in.Databases)
	in.Git = in.Git.finished()
	in.Marks = listed(in.Marks)
	in.Sources = listed(in.Sources)
	for i, s := range in.Sources {
		s.Databases, s.Git = finishedDatabases(s.Databases), s.Git.finished()
		in.Sources[i] = s
	}
	var more int
	in.Skipped, more = finishedSkipped(in.Skipped)
	in.SkippedMore += int64(more)
	in.Checks = listed(in.Checks)
	for i := range in.Checks {
		in.Checks[i].Detail = clean(in.Checks[i].Detail, maxTextBytes)
	}
	return in
}

// finishedSkipped returns what is listed of things that were skipped, and how
// many are not.
func finishedSkipped(all []wire.Skipped) (l []wire.Skipped, more int) {
	l = make([]wire.Skipped, 0, min(len(all), maxSkipped))
	room := maxSkippedBytes
	for i, s := range all {
		s = wire.Skipped{
			Part: clean(s.Part, maxTextBytes), Path: clean(s.Path, maxPathBytes),
			Reason: clean(s.Reason, maxTextBytes), Detail: clean(s.Detail, maxTextBytes),
		}
		room -= len(s.Part) + len(s.Path) + len(s.Reason) + len(s.Detail)
		if len(l) == maxSkipped || room < 0 {
			return l, len(all) - i
		}
		l = append(l, s)
	}
	return l, 0
}

func finishedDatabases(l []DatabaseEntry) []DatabaseEntry {
	l = listed(l)
	for i := range l {
		l[i].Damage = clean(l[i].Damage, maxTextBytes)
	}
	return l
}

func (g *GitEntry) finished() *GitEntry {
	if g == nil {
		return nil
	}
	c := *g
	c.Refs = listed(c.Refs)
	slices.SortFunc(c.Refs, func(a, b GitRefEntry) int { return cmp.Compare(a.Name, b.Name) })
	return &c
}

// listed returns a copy of l that is not nil.
func listed[T any](l []T) []T { return append(make([]T, 0, len(l)), l...) }
