package gitsync

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/wire"
)

// The folder of Engram:
//
//	.engram/manifest.json          the list of chunks
//	.engram/chunks/<id>.jsonl.gz
//	.engram/.amber/                our lock and old manifests; git ignores it
const (
	manifestFile = "manifest.json"
	engramLocal  = ".amber"
	ignoreAll    = "*\n"
	engramTool   = "engram"
)

// engramFolder is what was found in the folder.
type engramFolder struct {
	manifest engram.Manifest
	bytes    []byte // of the manifest as it lies there
	// broken says what is wrong with the manifest; the entries are those that
	// could be found in it.
	broken error
	notes  []string
	// strays are whole names of chunk files that no entry names.
	strays []string
}

// entries returns the chunks that the manifest lists, then those that lie beside it.
func (f *engramFolder) entries() []engram.Entry {
	entries := slices.Clone(f.manifest.Chunks)
	for _, id := range f.strays {
		entries = append(entries, engram.Entry{ID: id})
	}
	return entries
}

func (f *engramFolder) lists(id string) bool {
	return slices.ContainsFunc(f.manifest.Chunks, func(e engram.Entry) bool { return e.ID == id })
}

// faults are the notes about the manifest, as a report names them.
func (f *engramFolder) faults() (out []amber.QuarantinedChunk) {
	for _, note := range f.notes {
		out = append(out, amber.QuarantinedChunk{ID: manifestFile, Reason: note, Kind: amber.KindInvalid})
	}
	return out
}

// readEngram reads the manifest and lists the files. A manifest that cannot be
// read whole, with the marks of a git conflict or cut off, is understood as far
// as it goes: the chunks themselves tell the rest.
func (s *Sync) readEngram() (*engramFolder, error) {
	f := &engramFolder{}
	b, err := fsx.ReadFile(s.fs, filepath.Join(s.dir, manifestFile), engram.MaxManifestBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fail("read manifest", s.dir, err)
	}
	if err == nil {
		f.bytes = b
		f.manifest, f.broken = engram.ParseManifest(b)
		if f.broken != nil {
			repaired, notes, ok := engram.RepairManifest(b)
			if amber.KindOf(f.broken) != amber.KindDamaged {
				return nil, f.broken // of a later version, or too large: nothing is guessed
			}
			if !ok {
				return nil, amber.Errorf(amber.KindTooNew, "read manifest", s.dir, "the manifest is broken, and of a later version or too large to repair")
			}
			f.manifest, f.notes = repaired, notes
		}
		f.notes = append(f.notes, f.manifest.Notes...)
	}
	return f, s.findStrays(f)
}

// findStrays lists chunk files without an entry: two exports at once lose one,
// and so does a merge.
func (s *Sync) findStrays(f *engramFolder) error {
	info, err := s.fs.Lstat(s.chunks())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.IsDir() {
		return amber.Errorf(amber.KindDamaged, "list chunks", s.chunks(), "want a folder")
	}
	entries, err := s.fs.ReadDir(s.chunks())
	if err != nil {
		return fail("list chunks", s.chunks(), err)
	}
	listed := map[string]bool{}
	for _, e := range f.manifest.Chunks {
		listed[e.ID] = true
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), engram.FileName(""))
		if ok && engram.ValidID(id) && !listed[id] {
			f.strays = append(f.strays, id)
		}
	}
	return nil
}

// engramChunk reads and checks one chunk.
func (s *Sync) engramChunk(id string) (c engram.Chunk, key string, err error) {
	b, key, err := s.engramBytes(id)
	if err != nil {
		return c, "", err
	}
	c, err = engram.DecodeChunk(id, b)
	return c, key, err
}

// engramPath returns the file of the chunk that a key names.
func (s *Sync) engramPath(key string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(key, engramTool+":"), ":")
	return filepath.Join(s.chunks(), engram.FileName(id))
}

// engramKey names the very bytes of a chunk: ids of 32 bits are not names.
func engramKey(id string, b []byte) string {
	return fmt.Sprintf("%s:%s:%x", engramTool, id, sha256.Sum256(b))
}

// engramLocked runs fn while no other process of Amber writes to the folder.
func (s *Sync) engramLocked(ctx context.Context, fn func() error) error {
	const op = "prepare sync folder"
	local := filepath.Join(s.dir, engramLocal)
	for _, dir := range []string{s.dir, s.chunks(), local} {
		if err := fsx.MkdirAll(s.fs, dir, 0o755); err != nil {
			return fail(op, dir, err)
		}
	}
	err := fsx.CreateNew(s.fs, filepath.Join(local, ".gitignore"), 0o644, []byte(ignoreAll))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fail(op, local, err)
	}
	return s.locked(ctx, local, s.chunks(), fn)
}

// putManifest replaces the manifest, keeping the old one if it was broken.
func (s *Sync) putManifest(f *engramFolder, next engram.Manifest) (backup string, err error) {
	if f.broken != nil {
		sum := sha256.Sum256(f.bytes)
		backup = filepath.Join(s.dir, engramLocal, fmt.Sprintf("manifest-%x.json", sum[:8]))
		if err := fsx.CreateSame(s.fs, backup, 0o644, f.bytes); err != nil {
			return "", fail("keep manifest", backup, err)
		}
	}
	path := filepath.Join(s.dir, manifestFile)
	return backup, fail("write manifest", path, fsx.Replace(s.fs, path, 0o644, next.Encode()))
}

// Repair mends what a merge or a crash did to the folder. Of Engram's it writes
// the manifest anew when that has the marks of a conflict, is cut off or lacks
// chunks that are there; the old one is kept. Of Amber's there is little to
// mend: the two files that tell git what to do. Errors: refused for a folder
// that cannot be written; those of the disk.
func (s *Sync) Repair(ctx context.Context) (r wire.SyncRepair, err error) {
	r.Repaired = []string{}
	if s.o.Format == wire.SyncAmber {
		return s.repairNative(ctx)
	}
	if _, err := s.fs.Lstat(s.dir); err != nil {
		return r, fail("repair", s.dir, err)
	}
	err = s.engramLocked(ctx, func() error {
		f, err := s.readEngram()
		if err != nil {
			return err
		}
		next, found := s.rebuilt(f)
		r.Chunks = int64(len(next.Chunks))
		if f.broken != nil {
			r.Repaired = append(append(r.Repaired, "the manifest could not be read: "+reasonOf(f.broken)), f.notes...)
		}
		r.Repaired = append(r.Repaired, found...)
		if f.broken == nil && len(found) == 0 && len(f.manifest.Notes) == 0 {
			return nil
		}
		r.Backup, err = s.putManifest(f, next)
		return err
	})
	return r, err
}

// rebuilt returns the manifest with an entry for every whole chunk.
func (s *Sync) rebuilt(f *engramFolder) (engram.Manifest, []string) {
	next := f.manifest
	next.Version = max(next.Version, 1)
	next.Notes = nil
	var found []string
	for _, id := range f.strays {
		c, _, err := s.engramChunk(id)
		if err != nil {
			found = append(found, fmt.Sprintf("chunk %s is left out: %s", id, reasonOf(err)))
			continue
		}
		next.Chunks = append(next.Chunks, c.Entry("unknown"))
		found = append(found, "chunk "+id+" was not in the manifest")
	}
	return next, found
}

func reasonOf(err error) string { return quarantined("", err).Reason }

// repairNative puts back the files that are the same for everybody.
func (s *Sync) repairNative(ctx context.Context) (r wire.SyncRepair, err error) {
	r.Repaired = []string{}
	if _, err := s.fs.Lstat(s.dir); err != nil {
		return r, fail("repair", s.dir, err)
	}
	local := filepath.Join(s.dir, localDir)
	if info, err := s.fs.Lstat(filepath.Join(local, lockFile)); err == nil && !info.Mode().IsRegular() {
		// A person committed something else there: the lock is not a file. Amber can make everything in the folder
		// again.
		if err := fsx.RemoveAll(s.fs, local); err != nil {
			return r, fail("repair", local, err)
		}
		r.Repaired = append(r.Repaired, localDir+" was made again: the lock in it was not a file")
	}
	if err := s.prepare(); err != nil {
		return r, err
	}
	err = s.locked(ctx, local, s.chunks(), func() error {
		for _, f := range []struct{ name, text string }{{".gitattributes", attributes}, {".gitignore", ignore}} {
			path := filepath.Join(s.dir, f.name)
			b, err := fsx.ReadFile(s.fs, path, 1<<20)
			if err == nil && !strings.Contains(string(b), "<<<<<<<") && len(b) > 0 {
				continue // a person may have added to it
			}
			if err := fsx.Replace(s.fs, path, 0o644, []byte(f.text)); err != nil {
				return fail("repair", path, err)
			}
			r.Repaired = append(r.Repaired, f.name+" was written anew")
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	v, err := s.survey(ctx)
	if err != nil {
		return r, err
	}
	r.Chunks = int64(len(v.order))
	return r, nil
}
