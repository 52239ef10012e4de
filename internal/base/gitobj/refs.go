package gitobj

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Refs is what a repository calls its own: branches and tags.
type Refs struct {
	Head string // the branch that is checked out, "refs/heads/main", or an id when none is
	OID  string // its commit; "" before the first one
	Refs []Ref  // by name
}

// Ref is a branch or a tag.
type Ref struct {
	Name string // in full
	OID  string // 40 or 64 hex digits
}

// Equal reports whether r and o are the same, refs in the same order.
func (r Refs) Equal(o Refs) bool {
	return r.Head == o.Head && r.OID == o.OID && slices.Equal(r.Refs, o.Refs)
}

// tips returns the ids of all refs, each once, sorted.
func (r Refs) tips() []string {
	ids := make([]string, 0, len(r.Refs)+1)
	for _, ref := range r.Refs {
		ids = append(ids, ref.OID)
	}
	if r.OID != "" {
		ids = append(ids, r.OID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (r Refs) oid(name string) string {
	for _, ref := range r.Refs {
		if ref.Name == name {
			return ref.OID
		}
	}
	return ""
}

// ReadRefs returns the branches and tags of the repository of the folder dir, as their files are; false
// when there is no repository. It starts no program, takes no lock and ignores those of others. Errors: damaged for
// refs that git would not read; unsupported for a repository that keeps its refs in another way, for one whose .git is
// no folder, and for symbolic refs other than HEAD; quota beyond 10 000 refs.
func ReadRefs(fsys fsx.FS, dir string) (Refs, bool, error) {
	refs, found, err := readRefs(fsys, filepath.Join(dir, ".git"))
	return refs, found, wrap("read refs", err)
}

func readRefs(fsys fsx.FS, gitDir string) (Refs, bool, error) {
	r := refReader{fsys: fsys, gitDir: gitDir, oids: map[string]string{}}
	head, err := r.head()
	if err != nil || head == "" {
		return Refs{}, false, err
	}
	// Loose ones first: git writes the packed refs before it removes the loose ones.
	for _, dir := range []string{"refs/heads", "refs/tags"} {
		if err := r.folder(dir, 0); err != nil {
			return Refs{}, false, err
		}
	}
	if err := r.packed(); err != nil {
		return Refs{}, false, err
	}
	refs := Refs{Head: head, OID: head, Refs: make([]Ref, 0, len(r.oids))}
	for _, name := range slices.Sorted(maps.Keys(r.oids)) {
		refs.Refs = append(refs.Refs, Ref{Name: name, OID: r.oids[name]})
	}
	if !isOID(head) {
		refs.OID = r.oids[head]
	}
	if err := refs.Check(); err != nil {
		return Refs{}, false, badRefs(err)
	}
	return refs, true, nil
}

type refReader struct {
	fsys   fsx.FS
	gitDir string
	oids   map[string]string // by name
}

// head returns what HEAD says; "" when there is no repository.
func (r *refReader) head() (string, error) {
	info, err := r.fsys.Lstat(r.gitDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", unsupportedRepo("the .git of the repository is not a folder")
	}
	text, err := r.read("HEAD", maxHead)
	if err != nil || len(text) == 0 {
		return "", err // the maker of the repository died on the way
	}
	if _, err := r.fsys.Lstat(r.path("reftable")); err == nil {
		return "", unsupportedRepo("the repository keeps its refs in tables (reftable)")
	}
	line := strings.TrimRight(string(text), " \t\r\n")
	if target, symbolic := strings.CutPrefix(line, "ref:"); symbolic {
		line = strings.TrimLeft(target, " \t")
		if err := checkRefName(line); err != nil || !strings.HasPrefix(line, headsPrefix) {
			return "", badRefs(errors.New("HEAD does not name a branch"))
		}
		return line, nil
	}
	if !isOID(line) {
		return "", badRefs(errors.New("HEAD names neither a branch nor a commit"))
	}
	return line, nil
}

// folder reads the loose refs of a folder.
func (r *refReader) folder(dir string, depth int) error {
	if depth > maxRefDepth {
		return badRefs(fmt.Errorf("refs are nested more than %d deep", maxRefDepth))
	}
	if info, err := r.fsys.Lstat(r.path(dir)); err == nil && !info.IsDir() {
		return unsupportedRepo(fmt.Sprintf("%q is not a folder", clip.Name(dir)))
	}
	entries, err := r.fsys.ReadDir(r.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), ".lock"):
			continue // no ref: a lock, or a file that is being written
		case e.IsDir():
			err = r.folder(name, depth+1)
		default:
			err = r.loose(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *refReader) loose(name string) error {
	text, err := r.read(name, maxLooseRef)
	if err != nil || text == nil {
		return err // gone since the folder was read: it is packed now, or deleted
	}
	if strings.HasPrefix(string(text), "ref:") {
		return unsupportedRepo(fmt.Sprintf("%q is a symbolic ref", clip.Name(name)))
	}
	return r.add(name, strings.TrimRight(string(text), " \t\r\n"))
}

// packed reads packed-refs; a loose ref of the same name is newer.
func (r *refReader) packed() error {
	text, err := r.read("packed-refs", MaxPackedRefs)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' || line[0] == '^' { // a comment; what the tag above points at
			continue
		}
		oid, name, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(name, "refs/") {
			return badRefs(errors.New("packed-refs has lines of an unknown form"))
		}
		if !strings.HasPrefix(name, headsPrefix) && !strings.HasPrefix(name, tagsPrefix) {
			continue
		}
		if _, loose := r.oids[name]; loose {
			continue
		}
		if err := r.add(name, oid); err != nil {
			return err
		}
	}
	return nil
}

func (r *refReader) add(name, oid string) error {
	if err := checkRefName(name); err != nil {
		return badRefs(err)
	}
	if !isOID(oid) {
		return badRefs(fmt.Errorf("the ref %q has no object id", clip.Name(name)))
	}
	if r.oids[name] = oid; len(r.oids) > maxRefs {
		return amberError(amber.KindQuota, "", fmt.Errorf("more than %d refs", maxRefs))
	}
	return nil
}

// read returns a file of .git; nil when it is missing.
func (r *refReader) read(name string, most int64) ([]byte, error) {
	text, err := fsx.ReadFile(r.fsys, r.path(name), most)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, fsx.ErrTooLarge), errors.Is(err, fsx.ErrNotRegular):
		return nil, badRefs(fmt.Errorf("%q is too large or not a regular file", clip.Name(name)))
	}
	return text, err
}

func (r *refReader) path(name string) string {
	return filepath.Join(r.gitDir, filepath.FromSlash(name))
}

func badRefs(err error) error { return amberError(amber.KindDamaged, "", err) }

// unsupportedRepo is the answer to a repository of a form that Amber does not capture.
func unsupportedRepo(why string) error {
	return amberError(amber.KindUnsupported, "", errors.New(why))
}
