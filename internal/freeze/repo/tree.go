package repo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// EntryMode says what an entry of a tree is. It is one byte on disk.
type EntryMode uint8

// The modes.
const (
	ModeFile EntryMode = 1
	ModeExec EntryMode = 2 // a file that may be executed
	ModeDir  EntryMode = 3
)

// TreeEntry is a file or a folder in a folder.
type TreeEntry struct {
	Name    string
	Mode    EntryMode
	Size    int64 // of a file
	ModTime int64 // milliseconds since 1970; 0 when it is not known
	Parts   []ID  // of a file: blobs of 1 MiB each, the last one of what is left
	Tree    ID    // of a folder
}

// Bounds of trees.
const (
	// FilePartBytes is how much of a file lies in one blob.
	FilePartBytes = 1 << 20
	// MaxTreeEntries is how many files and folders one root may have below it.
	MaxTreeEntries = 100_000
	// MaxTreeDepth is how many folders one may have above it.
	MaxTreeDepth = 64

	maxEntryName = 255
	maxFileSize  = (MaxBlobBytes/32 - 8) * FilePartBytes // its parts fit into a tree
)

// A tree is a header and entries, in the order of their names as bytes:
//
//	 0   8  magic "AmberDir"
//	 8   4  version, 1
//	12   4  flags, 0
//	16   4  number of entries
//	20      entries
//
// An entry is
//
//	 0   1  mode: 1 file, 2 executable file, 3 folder
//	 1   1  length of the name
//	 2   2  zero
//	 4   8  time of the last change in milliseconds since 1970, signed; 0 not known
//	12   8  size of a file; 0 for a folder
//	20      the name; then the ids of the parts of the file, 32 bytes each, one
//	        for each MiB that the size begins; or the id of the folder's tree
const (
	treeMagic       = "AmberDir"
	treeHeaderBytes = 20
	treeEntryBytes  = 20
)

// check looks at one entry.
func (e *TreeEntry) check() error {
	if err := checkEntryName(e.Name); err != nil {
		return err
	}
	switch {
	case e.Mode == ModeDir && (e.Size != 0 || len(e.Parts) != 0 || e.Tree.IsZero()):
		return fmt.Errorf("%q: a folder must have one tree and no size", e.Name)
	case e.Mode == ModeDir:
		return nil
	case e.Mode != ModeFile && e.Mode != ModeExec:
		return fmt.Errorf("%q: unknown mode %d", e.Name, e.Mode)
	case e.Size < 0 || e.Size > maxFileSize || !e.Tree.IsZero():
		return fmt.Errorf("%q: size %d is out of range", e.Name, e.Size)
	case int64(len(e.Parts)) != partsOf(e.Size):
		return fmt.Errorf("%q: %d bytes do not make %d parts", e.Name, e.Size, len(e.Parts))
	}
	return nil
}

// partsOf returns how many parts a file of a size has.
func partsOf(size int64) int64 { return (size + FilePartBytes - 1) / FilePartBytes }

// partSize returns the length of a part of a file.
func partSize(size int64, part int) int64 {
	return min(FilePartBytes, size-int64(part)*FilePartBytes)
}

func checkEntryName(name string) error {
	switch {
	case name == "" || len(name) > maxEntryName:
		return fmt.Errorf("name has %d bytes, want 1 to %d", len(name), maxEntryName)
	case name == "." || name == ".." || strings.ContainsAny(name, "/\x00"):
		return fmt.Errorf("the name %q is not allowed", name)
	case !utf8.ValidString(name):
		return errors.New("a name is not UTF-8")
	}
	return nil
}

// foldName makes names equal that a file system may take for one: upper and
// lower case.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}

// checkTree looks at the entries of a folder: each alone, their order, and
// that no two are alike.
func checkTree(entries []TreeEntry) error {
	folded := make(map[string]bool, len(entries))
	for i := range entries {
		e := &entries[i]
		if err := e.check(); err != nil {
			return err
		}
		if i > 0 && entries[i-1].Name >= e.Name {
			return fmt.Errorf("%q is not sorted", e.Name)
		}
		f := foldName(e.Name)
		if folded[f] {
			return fmt.Errorf("%q differs from another name only in case", e.Name)
		}
		folded[f] = true
	}
	return nil
}

// marshalTree returns a tree in its format. The entries have passed checkTree.
func marshalTree(entries []TreeEntry) []byte {
	le := binary.LittleEndian
	b := []byte(treeMagic)
	b = le.AppendUint32(b, packVersion)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint32(b, uint32(len(entries)))
	for i := range entries {
		e := &entries[i]
		b = append(b, byte(e.Mode), byte(len(e.Name)), 0, 0)
		b = le.AppendUint64(b, uint64(e.ModTime))
		b = le.AppendUint64(b, uint64(e.Size))
		b = append(b, e.Name...)
		for _, id := range e.Parts {
			b = append(b, id[:]...)
		}
		if e.Mode == ModeDir {
			b = append(b, e.Tree[:]...)
		}
	}
	return b
}

// parseTree reads a tree. The entries share nothing with b.
func parseTree(b []byte) ([]TreeEntry, error) {
	le := binary.LittleEndian
	if len(b) < treeHeaderBytes || string(b[:8]) != treeMagic {
		return nil, errors.New("the header of a tree is missing")
	}
	if err := checkVersion(le.Uint32(b[8:]), le.Uint32(b[12:])); err != nil {
		return nil, err
	}
	n := le.Uint32(b[16:])
	b = b[treeHeaderBytes:]
	if n > MaxTreeEntries || int(n)*treeEntryBytes > len(b) {
		return nil, fmt.Errorf("%d entries do not fit in %d bytes", n, len(b))
	}
	entries := make([]TreeEntry, n)
	for i := range entries {
		var err error
		if b, err = entries[i].parse(b); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
	}
	if len(b) != 0 {
		return nil, fmt.Errorf("%d bytes follow the last entry", len(b))
	}
	return entries, checkTree(entries)
}

var errShortTree = errors.New("the tree is cut off")

// parse reads an entry and returns what lies behind it.
func (e *TreeEntry) parse(b []byte) (rest []byte, err error) {
	le := binary.LittleEndian
	if len(b) < treeEntryBytes {
		return nil, errShortTree
	}
	length := int(b[1])
	if b[2] != 0 || b[3] != 0 || le.Uint64(b[12:]) > maxFileSize {
		return nil, errors.New("reserved bytes are set, or the size is out of range")
	}
	*e = TreeEntry{Mode: EntryMode(b[0]), ModTime: int64(le.Uint64(b[4:])), Size: int64(le.Uint64(b[12:]))}
	b = b[treeEntryBytes:]
	ids := partsOf(e.Size)
	if e.Mode == ModeDir {
		ids = 1
	}
	if int64(len(b)) < int64(length)+ids*int64(len(ID{})) {
		return nil, errShortTree
	}
	e.Name, b = string(b[:length]), b[length:]
	if e.Mode == ModeDir {
		e.Tree = ID(b[:len(ID{})])
		return b[len(ID{}):], nil
	}
	if ids > 0 {
		e.Parts = make([]ID, ids)
	}
	for i := range e.Parts {
		e.Parts[i], b = ID(b[:len(ID{})]), b[len(ID{}):]
	}
	return b, nil
}
