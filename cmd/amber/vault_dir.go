package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/redact"
)

// Bounds of a folder that is backed up. A vault takes some ten megabytes.
const (
	maxVaultDocument  = 8 << 20
	maxVaultDocuments = 10_000
)

// gitFolder is what git keeps beside the files of a work tree.
const gitFolder = ".git"

// readDir reads the text files below a folder. What is not taken is told.
// Errors: not_found; invalid when it is no folder, is Amber's own, or holds too
// much; refused.
func readDir(ctx context.Context, dir string, own ownThings) (vaultDocuments, error) {
	const op = "read documents"
	d := vaultDocuments{Documents: colony.Documents{}}
	root, err := filepath.EvalSymlinks(dir) // the folder itself may be a link
	if err != nil {
		return d, dirError(op, dir, err)
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
		n, err := d.take(path, filepath.ToSlash(rel), e, err, own)
		total += n
		switch {
		case len(d.Documents) > maxVaultDocuments:
			return amber.Errorf(amber.KindInvalid, op, dir, "there are more than %d documents in it", maxVaultDocuments)
		case total > colony.DefaultMaxBytes:
			return amber.Errorf(amber.KindInvalid, op, dir, "there are more than %s of text in it", byteSize(colony.DefaultMaxBytes))
		}
		return err
	})
	return d, dirError(op, dir, err)
}

// checkFolder refuses what is no folder, and the home of Amber.
func checkFolder(path string, e fs.DirEntry, err error, own ownThings) error {
	if err == nil && !e.IsDir() {
		err = errors.New("it is no folder")
	}
	if err != nil {
		return err
	}
	info, err := e.Info()
	if err == nil && own.isHome(path, info) {
		err = errors.New("it is the home of Amber; without --dir the notes in it are taken")
	}
	return err
}

// take takes one entry of the folder, or says why not, and returns how much it
// took.
func (d *vaultDocuments) take(path, name string, e fs.DirEntry, err error, own ownThings) (int64, error) {
	skip := func(reason, detail string) (int64, error) {
		d.skip(partDir, strings.ToValidUTF8(name, "\uFFFD"), reason, detail)
		if e != nil && e.IsDir() {
			return 0, fs.SkipDir
		}
		return 0, nil
	}
	var info fs.FileInfo
	if err == nil {
		info, err = e.Info()
	}
	switch base := filepath.Base(path); {
	case errors.Is(err, fs.ErrNotExist):
		return skip(amber.SkipTorn, "it is gone")
	case err != nil:
		return skip(amber.SkipUnreadable, "")
	case !utf8.ValidString(name):
		return skip(amber.SkipBadName, "it is not UTF-8")
	case gitsOwn(base):
		return skip(amber.SkipUnsupported, "it is git's own")
	case strings.HasPrefix(base, fsx.TempPrefix):
		return skip(amber.SkipUnsupported, "it is a temporary file of Amber")
	case e.IsDir() && own.isHome(path, info):
		return skip(amber.SkipUnsupported, "it is a home of Amber")
	case e.IsDir():
		return 0, nil
	case own.isKey(info):
		return skip(amber.SkipUnsupported, "it is a key of this side")
	case !e.Type().IsRegular():
		return skip(amber.SkipNotRegular, "")
	}
	b, err := fsx.ReadFile(fsx.OS(), path, maxVaultDocument)
	switch {
	case errors.Is(err, fsx.ErrTooLarge):
		return skip(amber.SkipTooLarge, "more than "+byteSize(maxVaultDocument))
	case errors.Is(err, fsx.ErrNotRegular):
		return skip(amber.SkipNotRegular, "")
	case errors.Is(err, fs.ErrNotExist):
		return skip(amber.SkipTorn, "it is gone")
	case err != nil:
		return skip(amber.SkipUnreadable, "")
	case !utf8.Valid(b) || redact.ContentOf(name, b) == redact.ContentBinary:
		return skip(amber.SkipUnsupported, notText)
	}
	d.Documents[name] = string(b)
	return int64(len(b)), nil
}

// dirError gives an error about a folder its kind; one that has a kind keeps it.
func dirError(op, dir string, err error) error {
	var e *amber.Error
	kind := amber.KindInvalid
	switch {
	case err == nil, errors.As(err, &e), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return amber.Errorf(amber.KindNotFound, op, dir, "there is no such folder")
	case errors.Is(err, fs.ErrPermission):
		kind = amber.KindRefused
	}
	return &amber.Error{Op: op, Kind: kind, ID: dir, Err: err}
}
