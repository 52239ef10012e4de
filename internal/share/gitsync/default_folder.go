package gitsync

import (
	"context"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// The names of the folders at the top of a work tree.
const (
	amberName   = ".amber"
	engramName  = ".engram"
	projectFile = "project" // in .amber: the name of the project
)

// DefaultFolder returns the folder of a format below the top of a work tree.
func DefaultFolder(top string, format wire.SyncFormat) string {
	if format == wire.SyncEngram {
		return filepath.Join(top, engramName)
	}
	return filepath.Join(top, amberName)
}

// FormatOf is the format that the path of a folder implies. The one file that can
// be synced is a backup of Engram.
func FormatOf(path string) wire.SyncFormat {
	if filepath.Base(path) == engramName {
		return wire.SyncEngram
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return wire.SyncEngram
	}
	return wire.SyncAmber
}

// ExportBoth exports to the folder dir. Beside a folder of Engram it exports to
// .amber as well, if there is one, so that both hold the same. Sign returns the
// signer of what Amber writes; it is not called for a folder of Engram, whose
// format has no signatures. With an error, Also is set when the second folder
// failed.
func (o Options) ExportBoth(ctx context.Context, store Source, dir string, e ExportOptions, sign func(context.Context) (sign.Signer, error)) (wire.SyncExport, error) {
	report, format, err := o.exportSigned(ctx, store, dir, e, sign)
	beside := filepath.Join(filepath.Dir(dir), amberName)
	if err != nil || format != wire.SyncEngram || !isShared(beside) {
		return report, err
	}
	o.Format = wire.SyncAmber
	also, _, err := o.exportSigned(ctx, store, beside, e, sign)
	report.Also = &also
	return report, err
}

func (o Options) exportSigned(ctx context.Context, store Source, dir string, e ExportOptions, sign func(context.Context) (sign.Signer, error)) (wire.SyncExport, wire.SyncFormat, error) {
	s, err := o.Open(store, dir)
	if err != nil {
		return wire.SyncExport{}, "", err
	}
	if s.Format() == wire.SyncAmber {
		if s.o.Signer, err = sign(ctx); err != nil {
			return wire.SyncExport{}, "", err
		}
	}
	report, err := s.Export(ctx, e)
	return report, s.Format(), err
}

// isShared reports whether path is a folder to export to. A folder with nothing but
// the name of the project is there for that name alone.
func isShared(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	entries, err := os.ReadDir(path)
	return err != nil || len(entries) != 1 || entries[0].Name() != projectFile
}
