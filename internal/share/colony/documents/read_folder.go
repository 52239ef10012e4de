package documents

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/names"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/wire"
)

// ReadFolder reads the text files below a folder. Files that it leaves out are in
// Skipped with the reason. Errors: not_found; refused; invalid when dir is not a
// folder, is a home of Amber, or holds too much.
func ReadFolder(ctx context.Context, dir string, own Own) (Set, error) {
	const op = "read documents"
	s := Set{Documents: colony.Documents{}}
	root, err := filepath.EvalSymlinks(dir) // the folder itself may be a link
	if err != nil {
		return s, folderError(op, dir, err)
	}
	var total int64
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if path == root {
			return checkFolder(path, e, err, own)
		}
		rel, relErr := filepath.Rel(root, path)
		if relErr != nil {
			return relErr
		}
		n, err := s.addFile(path, filepath.ToSlash(rel), e, err, own)
		total += n
		switch {
		case len(s.Documents) > maxDocuments:
			return amber.Errorf(amber.KindInvalid, op, dir, "the folder has more than %d documents", maxDocuments)
		case total > colony.DefaultMaxBytes:
			return amber.Errorf(amber.KindInvalid, op, dir, "the folder has more than %d bytes of text", colony.DefaultMaxBytes)
		}
		return err
	})
	return s, folderError(op, dir, err)
}

// checkFolder refuses files and homes of Amber.
func checkFolder(path string, e fs.DirEntry, err error, own Own) error {
	if err == nil && !e.IsDir() {
		err = errNotFolder
	}
	if err != nil {
		return err
	}
	info, err := e.Info()
	if err == nil && own.isHome(path, info) {
		err = errors.New("the folder is a home of Amber, whose notes are backed up without --dir")
	}
	return err
}

// addFile adds one entry of the folder, or notes why it does not, and returns how
// many bytes it added.
func (s *Set) addFile(path, name string, e fs.DirEntry, err error, own Own) (int64, error) {
	var info fs.FileInfo
	if err == nil {
		info, err = e.Info()
	}
	reason, detail := leaveOut(path, name, e, info, err, own)
	if reason == "" && e.IsDir() {
		return 0, nil
	}
	var b []byte
	if reason == "" {
		b, reason, detail = readText(path, name)
	}
	if reason == "" {
		s.Documents[name] = string(b)
		return int64(len(b)), nil
	}
	s.skip(PartFolder, strings.ToValidUTF8(name, "\uFFFD"), reason, detail)
	if e != nil && e.IsDir() {
		return 0, fs.SkipDir
	}
	return 0, nil
}

// leaveOut says why an entry is not read; "" when it is.
func leaveOut(path, name string, e fs.DirEntry, info fs.FileInfo, err error, own Own) (reason, detail string) {
	switch base := filepath.Base(path); {
	case errors.Is(err, fs.ErrNotExist):
		return wire.SkipTorn, wasRemoved
	case err != nil:
		return wire.SkipUnreadable, ""
	case !utf8.ValidString(name):
		return wire.SkipBadName, "file name is not UTF-8"
	case names.IsCommandFolder(base):
		return wire.SkipUnsupported, "folder belongs to version control"
	case strings.HasPrefix(base, fsx.TempPrefix):
		return wire.SkipUnsupported, "file is a temporary file of Amber"
	case e.IsDir() && own.isHome(path, info):
		return wire.SkipUnsupported, "folder is a home of Amber"
	case e.IsDir():
		return "", ""
	case own.isKey(info):
		return wire.SkipUnsupported, "file is a key file of this backup"
	case !e.Type().IsRegular():
		return wire.SkipNotRegular, ""
	}
	return "", ""
}

const wasRemoved = "file was removed during the backup"

// readText reads a text file, or says why it is left out.
func readText(path, name string) (b []byte, reason, detail string) {
	b, err := fsx.ReadFile(fsx.OS(), path, MaxDocumentBytes)
	switch {
	case errors.Is(err, fsx.ErrTooLarge):
		return nil, wire.SkipTooLarge, "file is larger than 8 MiB"
	case errors.Is(err, fsx.ErrNotRegular):
		return nil, wire.SkipNotRegular, ""
	case errors.Is(err, fs.ErrNotExist):
		return nil, wire.SkipTorn, wasRemoved
	case err != nil:
		return nil, wire.SkipUnreadable, ""
	case !utf8.Valid(b) || redact.ContentOf(name, b) == redact.ContentBinary:
		return nil, wire.SkipUnsupported, "file is not UTF-8 text"
	}
	return b, "", ""
}

var errNotFolder = errors.New("a file, want a folder")

// folderError gives an error about a folder its kind; one that has a kind keeps
// it.
func folderError(op, dir string, err error) error {
	var e *amber.Error
	kind := amber.KindInvalid
	switch {
	case err == nil, errors.As(err, &e), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return amber.Errorf(amber.KindNotFound, op, dir, "the folder does not exist")
	case errors.Is(err, fs.ErrPermission):
		kind = amber.KindRefused
	}
	return &amber.Error{Op: op, Kind: kind, ID: dir, Err: err}
}
