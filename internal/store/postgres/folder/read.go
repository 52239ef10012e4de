package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
)

// Source is a folder as [mirror.Import] wants it.
type Source struct {
	Files mirror.Files
	// Options have what is beside the files: documents, the files of the vault and notes.
	Options mirror.ImportOptions
	// Left names what of the folder has no place in a database, and why.
	Left []string
}

// Read looks at the folder of a generation that no process writes to. Notes without a repository become a repository
// with a single commit, of the time at. Errors: damaged and unsupported for a repository that cannot be read; those of
// the disk.
func Read(ctx context.Context, dir string, at time.Time, o Options) (Source, error) {
	s := Source{Files: mirror.Files{Memory: filepath.Join(dir, memoryName), Control: filepath.Join(dir, controlName)}}
	documents, err := s.documents(filepath.Join(dir, stateName))
	if err != nil {
		return s, err
	}
	s.Options.Documents = func(put func(mirror.Document) error) error {
		for _, d := range documents {
			if err := put(d); err != nil {
				return err
			}
		}
		return nil
	}
	files, strays, err := mirror.VaultFolder(filepath.Join(dir, stateName, vaultName))
	if err != nil {
		return s, failed(dir, err)
	}
	s.Options.VaultFiles = files
	for _, stray := range strays {
		s.Left = append(s.Left, fmt.Sprintf("%s/%s/%s is no file of a vault", stateName, vaultName, stray))
	}
	s.Options.Notes, err = notes(ctx, filepath.Join(dir, notesName), at, o)
	return s, err
}

// maxDocument bounds the file of a document, which other programs may have written with white space.
const maxDocument = 4 * amber.MaxDocumentBytes

// documents reads the documents of runtime state.
func (s *Source) documents(dir string) (list []mirror.Document, err error) {
	entries, err := fsx.OS().ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failed(dir, err)
	}
	for _, e := range entries {
		if e.Name() == vaultName && e.IsDir() {
			continue
		}
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok || !e.Type().IsRegular() || amber.CheckDocumentName(name) != nil {
			s.Left = append(s.Left, fmt.Sprintf("%s/%s is no document of runtime state, and a database holds no others", stateName, e.Name()))
			continue
		}
		b, err := fsx.ReadFile(fsx.OS(), filepath.Join(dir, e.Name()), maxDocument)
		if err != nil {
			return nil, failed(dir, err)
		}
		d, err := amber.NewDocument(name, b)
		if err != nil {
			s.Left = append(s.Left, fmt.Sprintf("%s/%s: %v", stateName, e.Name(), err))
			continue
		}
		list = append(list, mirror.Document{Name: name, Revision: d.Revision, JSON: d.Document})
	}
	return list, nil
}

// notes reads the repository of the notes.
func notes(ctx context.Context, dir string, at time.Time, o Options) (*mirror.Notes, error) {
	refs, found, err := gitobj.ReadRefs(fsx.OS(), dir)
	if err != nil {
		return nil, err
	}
	if !found {
		return fresh(dir, at)
	}
	if len(refs.Refs) == 0 {
		return &mirror.Notes{}, nil
	}
	return &mirror.Notes{Refs: refs, Objects: func(yield func(string, []byte) error) error {
		return gitobj.RawObjects(ctx, o.git(dir), refs, yield)
	}}, nil
}

// fresh makes a repository with one commit of the files of notes in a folder, without git.
func fresh(dir string, at time.Time) (*mirror.Notes, error) {
	objects, files := map[string]gitobj.Object{}, map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if _, isNote := notefile.NameOf(rel); !isNote || !d.Type().IsRegular() {
			return nil
		}
		b, err := fsx.ReadFile(fsx.OS(), path, gitobj.MaxObjectBytes)
		if err != nil {
			return err
		}
		blob := gitobj.NewBlob(b)
		objects[blob.OID] = blob
		files[rel] = blob.OID
		return nil
	})
	if err != nil || len(files) == 0 {
		return &mirror.Notes{}, failed(dir, err)
	}
	tree, made, err := gitobj.PutFiles(nil, "", files)
	if err != nil {
		return nil, err
	}
	for _, o := range made {
		objects[o.OID] = o
	}
	commit := gitobj.NewCommit(tree, "", "restore notes without their history", at)
	objects[commit.OID] = commit
	refs := gitobj.Refs{Head: gitobj.MainBranch, OID: commit.OID, Refs: []gitobj.Ref{{Name: gitobj.MainBranch, OID: commit.OID}}}
	return &mirror.Notes{Refs: refs, Objects: func(yield func(string, []byte) error) error {
		oids := make([]string, 0, len(objects))
		for oid := range objects {
			oids = append(oids, oid)
		}
		slices.Sort(oids)
		for _, oid := range oids {
			if err := yield(oid, objects[oid].Raw); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}
