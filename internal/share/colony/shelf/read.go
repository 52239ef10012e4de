package shelf

import (
	"context"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/share/colony"
)

// List returns the files whose names begin with prefix, by name: all names that there were at one moment, or an error.
// The data of each file were true at some moment of the listing, not all at the same moment.
func (s *Shelf) List(ctx context.Context, prefix string) ([]colony.FileInfo, error) {
	list, err := s.list(ctx, "list files")
	if err != nil {
		return nil, err
	}
	infos := []colony.FileInfo{}
	for _, h := range list {
		if strings.HasPrefix(h.Name, prefix) {
			infos = append(infos, h.info())
		}
	}
	return infos, nil
}

// Get returns a file. Errors also: not_found; invalid, ErrName.
func (s *Shelf) Get(ctx context.Context, name string) (colony.File, error) {
	const op = "read file"
	if err := checkName(op, name); err != nil {
		return colony.File{}, err
	}
	var f colony.File
	err := s.read(ctx, func(v volume) error {
		h, content, err := get(v, op, name)
		f = colony.File{FileInfo: h.info(), Content: content}
		return err
	})
	if err != nil {
		return colony.File{}, err
	}
	return f, nil
}

// RootFolder is the folder of files without a slash in their names.
const RootFolder = "(root)"

// Folder is a folder at the top: what stands before the first slash of names.
type Folder struct {
	Name  string
	Files int64
}

// Folders returns the folders at the top, by name, and how many files are in each
// and below it.
func (s *Shelf) Folders(ctx context.Context) ([]Folder, error) {
	list, err := s.list(ctx, "list folders")
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for _, h := range list {
		dir, _, ok := strings.Cut(h.Name, "/")
		if !ok {
			dir = RootFolder
		}
		counts[dir]++
	}
	folders := []Folder{}
	for name, n := range counts {
		folders = append(folders, Folder{Name: name, Files: n})
	}
	slices.SortFunc(folders, func(a, b Folder) int { return strings.Compare(a.Name, b.Name) })
	return folders, nil
}
