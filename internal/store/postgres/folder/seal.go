package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/survey"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
)

// seal is what a folder held when it was written. A folder that was changed since is made anew.
type seal struct {
	Format      int               `json:"format"`
	Incarnation string            `json:"incarnation"`
	Digests     map[string]string `json:"digests"` // of its parts
	// Shapes are digests of what the file system knows of the parts: a part with the same shape was not changed, and is not read. There is
	// none where the system does not tell when a file was changed.
	Shapes map[string]string `json:"shapes,omitempty"`
	// Instant is of the rows, AllCompared when all of them were compared with the database, Times how often only new ones were since.
	Instant     *mirror.Instant `json:"instant,omitempty"`
	AllCompared amber.Time      `json:"all_compared,omitzero"`
	Times       int             `json:"times,omitempty"`
}

const (
	sealFormat = 1
	maxSeal    = 1 << 20
)

var parts = []string{memoryName, controlName, notesName, stateName}

// Seal notes what a folder holds, so that [Write] goes on from it. It is for a folder whose generation has become the live one.
func Seal(ctx context.Context, dir, incarnation string) error {
	return seal{Incarnation: incarnation}.put(ctx, dir, seal{})
}

// put writes the seal of a folder. Parts that are as they were at the last one have its digests.
func (s seal) put(ctx context.Context, dir string, last seal) error {
	s.Format, s.Digests, s.Shapes = sealFormat, map[string]string{}, map[string]string{}
	for _, name := range parts {
		// The shape comes first: what is changed between the two has another one later.
		shape, err := shape(ctx, dir, name)
		if err == nil && shape != "" && shape == last.Shapes[name] {
			s.Digests[name] = last.Digests[name]
		} else if err == nil {
			s.Digests[name], err = digest(ctx, dir, name)
		}
		if err != nil {
			return failed(dir, err)
		}
		if shape != "" {
			s.Shapes[name] = shape
		}
	}
	b, err := json.Marshal(s)
	if err == nil {
		err = fsx.Replace(fsx.OS(), filepath.Join(dir, sealName), 0o600, b)
	}
	return failed(dir, err)
}

// unsealed returns the seal of a folder, and says why the folder is not what was written there; "" when it is. Where all rows are to be compared
// all files are read, before that only those that were changed by what the file system says.
func unsealed(ctx context.Context, dir, incarnation string, o Options) (s seal, why string) {
	b, err := fsx.ReadFile(fsx.OS(), filepath.Join(dir, sealName), maxSeal)
	if err != nil {
		return s, "there is no copy of the agent, or one that was not finished"
	}
	switch {
	case json.Unmarshal(b, &s) != nil || s.Format != sealFormat:
		return seal{}, "the copy of the agent is of another version of Amber"
	case s.Incarnation != incarnation:
		return seal{}, "the copy is of another generation of the agent"
	}
	readAll := s.since(dir, o) == nil
	for _, name := range parts {
		is, err := shape(ctx, dir, name)
		if err == nil && !readAll && is != "" && is == s.Shapes[name] {
			continue
		}
		if err == nil {
			is, err = digest(ctx, dir, name)
		}
		if err != nil {
			return seal{}, "the copy of the agent cannot be read: " + err.Error()
		}
		if is != s.Digests[name] {
			return seal{}, fmt.Sprintf("%s in the copy of the agent is not what was written", name)
		}
	}
	return s, ""
}

// since is where the rows of a folder with the seal stop; nil where all are to be compared.
func (s seal) since(dir string, o Options) *mirror.Instant {
	most := o.Every
	if most == 0 {
		most = every
	}
	if s.Times < 0 || s.Times+1 >= most || s.AllCompared.IsZero() {
		return nil
	}
	for _, name := range []string{memoryName, controlName} {
		for _, more := range []string{"-wal", "-journal"} {
			// Another program used the file and left a journal, whose changes are not in the digest of the file.
			if _, err := fsx.OS().Lstat(filepath.Join(dir, name+more)); !errors.Is(err, fs.ErrNotExist) {
				return nil
			}
		}
	}
	return s.Instant
}

// digest is that of a part of a folder: of a file by its content, of a folder by the names and content of what is in it.
func digest(ctx context.Context, dir, name string) (string, error) {
	return walk(ctx, filepath.Join(dir, name), func(h hash.Hash, path string, d fs.DirEntry) error {
		if !d.Type().IsRegular() {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.Copy(h, f)
		fmt.Fprintf(h, "%d\n", n)
		return err
	})
}

// shape is a digest of what the file system knows of a part; "" where it does not tell enough.
func shape(ctx context.Context, dir, name string) (string, error) {
	untold := false
	sum, err := walk(ctx, filepath.Join(dir, name), func(h hash.Hash, _ string, d fs.DirEntry) error {
		info, err := d.Info()
		if err != nil {
			return err
		}
		key := survey.KeyOf(info)
		untold = untold || key == survey.Key{}
		_, err = fmt.Fprintf(h, "%d %d %d %d %d\n", info.Size(), info.ModTime().UnixNano(), key.Device, key.Inode, key.Changed)
		return err
	})
	if untold {
		sum = ""
	}
	return sum, err
}

// walk makes a digest of the names and types of the files of a part, and of what each adds.
func walk(ctx context.Context, root string, each func(h hash.Hash, path string, d fs.DirEntry) error) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == root {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if !counts(rel) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		fmt.Fprintf(h, "%d %s %d\n", len(rel), rel, d.Type())
		return each(h, path, d)
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// counts reports whether a path is part of a digest: of a repository only its objects are, whose refs are compared with the database. Locks and
// pins come and go there.
func counts(rel string) bool {
	return rel == ".git" || !strings.HasPrefix(rel, ".git/") || rel == ".git/objects" || strings.HasPrefix(rel, ".git/objects/")
}
