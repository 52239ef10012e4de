package gitsync

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// Source is a store that can be synced: [amber.Store], and every backend that
// has the part.
type Source interface{ Replica() amber.Replica }

// Options say how a folder is synced. The zero value is ready.
type Options struct {
	// Format of the folder; "" means Engram's for a folder called .engram and for
	// a file, which is a backup of Engram, and Amber's otherwise.
	Format wire.SyncFormat
	// Signer signs what is exported; nil leaves it unsigned.
	Signer sign.Signer
	// Trust says whose signatures count; nil: no one's.
	Trust sign.TrustList
	// RequireSigned refuses chunks without the signature of a trusted key.
	RequireSigned bool
	// Prompts exports what was typed to an agent: prompts, and the digests that
	// Amber makes of sessions, which quote them. Folders of Engram always get
	// prompts, as Engram itself writes them there.
	Prompts bool
	// Only limits an import of Engram's rows to records of these scopes; empty: all. The chunks do not count as imported then,
	// so that a later import brings the rest.
	Only []amber.ChangeScope
	// Project is the project of the folder, whose rows Engram calls by the last element of its name; "": none.
	Project string
	// FS is the file system; nil means that of the operating system.
	FS fsx.FS
	// Redact finds the secrets that are not exported; nil: the built-in rules.
	Redact *redact.Redactor
	// Intake finds the secrets that [Sync.Look] counts; nil: none are counted.
	Intake *redact.Redactor
}

// Sync ties a store to a folder. It is safe for concurrent use, also by
// several processes.
type Sync struct {
	store  amber.Replica
	o      Options
	fs     fsx.FS
	dir    string // absolute, symbolic links resolved
	redact *redact.Redactor
}

// Open ties a store to a folder with the default [Options].
func Open(store Source, dir string) (*Sync, error) { return Options{}.Open(store, dir) }

// Open ties a store to a folder, which need not exist. Nothing is read or
// written yet. Errors: invalid; refused when the folder is a symbolic link.
func (o Options) Open(store Source, dir string) (*Sync, error) {
	if dir == "" {
		return nil, amber.Errorf(amber.KindInvalid, "open sync folder", "", "the path is empty")
	}
	o.FS = cmp.Or(o.FS, fsx.OS())
	abs, err := resolve(o.FS, dir)
	if err != nil {
		return nil, err
	}
	if o.Format == "" {
		o.Format = FormatOf(abs)
	}
	if o.Format != wire.SyncAmber && o.Format != wire.SyncEngram {
		return nil, amber.Errorf(amber.KindInvalid, "open sync folder", dir, "the format is %s, want amber or engram", string(o.Format))
	}
	if o.Redact == nil {
		o.Redact = redact.New()
	}
	return &Sync{store: store.Replica(), o: o, fs: o.FS, dir: abs, redact: o.Redact}, nil
}

// Dir returns the folder, absolute and without symbolic links.
func (s *Sync) Dir() string { return s.dir }

// Format returns the format of the folder.
func (s *Sync) Format() wire.SyncFormat { return s.o.Format }

// resolve returns the one name of a folder that may not exist yet. The folder
// itself is no symbolic link: a repository may hold one that leads anywhere.
func resolve(fsys fsx.FS, dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", &amber.Error{Op: "open sync folder", Kind: amber.KindInvalid, ID: dir, Err: err}
	}
	if info, err := fsys.Lstat(abs); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", amber.Errorf(amber.KindRefused, "open sync folder", dir, "a symbolic link, want a folder").WithHint("use --dir with the folder that the link leads to")
	}
	// The longest part that exists is resolved, the rest is kept.
	rest := ""
	for at := abs; ; {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		parent := filepath.Dir(at)
		if !errors.Is(err, fs.ErrNotExist) || parent == at {
			return "", &amber.Error{Op: "open sync folder", Kind: amber.KindInvalid, ID: dir, Err: err}
		}
		rest = filepath.Join(filepath.Base(at), rest)
		at = parent
	}
}

// fail gives an error of the file system its kind.
func fail(op, path string, err error) error {
	var known *amber.Error
	if !errors.As(err, &known) && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		return &amber.Error{Op: op, Kind: amber.KindRefused, ID: path, Err: err, Hint: "chmod u+w " + path}
	}
	return diskerr.Given(op, path, err)
}
