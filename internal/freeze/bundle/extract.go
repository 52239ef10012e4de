package bundle

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// Extracted is a bundle in a folder.
type Extracted struct {
	Format    wire.BundleFormat
	Info      wire.BundleInfo
	Contents  Contents // for the other format: what its manifest says about the snapshot
	Entries   []wire.BundleEntry
	Nexo      *NexoManifest        // nil for Amber's own format
	Signature sign.SignatureReport // valid or unsigned; Standing is left to the caller
	Checked   []string             // as in [wire.BundleReport]
	Dir       string
}

// Extract reads the bundle into dir, which exists, is empty and is private to the caller. Files get mode 0600, or 0700 when
// they may be executed, folders 0700; manifests are not written. When it returns everything has been compared that
// [Bundle.Verify] looks at; nothing is durable. After an error the folder is empty again.
//
// Errors: damaged; untrusted for a signature that is bad or was stripped; refused without an identity that opens it, or
// when others may look into dir; too_new; quota; invalid for a folder that is not fit; internal.
func (b *Bundle) Extract(ctx context.Context, dir string) (*Extracted, error) {
	if err := checkFolder(b.o.FS, dir); err != nil {
		return nil, err
	}
	x, err := b.examine(ctx, &folder{fsys: b.o.FS, dir: dir, made: map[string]bool{}}, true)
	if err == nil {
		err = x.verdict()
	}
	if err != nil {
		return nil, errors.Join(err, empty(b.o.FS, dir))
	}
	c := x.found
	return &Extracted{
		Format: c.format, Info: x.facts, Contents: c.contents, Entries: publicEntries(c.entries), Nexo: c.nexo,
		Signature: c.signature, Checked: x.passed, Dir: dir,
	}, nil
}

// verdict returns why a bundle is not to be used.
func (x *examination) verdict() error {
	if err := x.err(x.path); err != nil {
		return err
	}
	if !x.locked && x.found != nil {
		return nil
	}
	e := amber.Errorf(amber.KindRefused, "open bundle", x.path, "the bundle is encrypted, and %s", whyNoIdentity).WithHint("give the key that opens it with --identity FILE")
	if x.shape.byPassphrase() {
		e.Hint = "give its passphrase"
	}
	return e
}

// checkFolder makes sure that dir can take a bundle.
func checkFolder(fsys fsx.FS, dir string) error {
	const op = "extract bundle"
	info, err := fsys.Lstat(dir)
	if err != nil {
		return diskerr.Given(op, dir, err)
	}
	list, err := fsys.ReadDir(dir)
	switch {
	case !info.IsDir():
		return amber.Errorf(amber.KindInvalid, op, dir, "not a folder")
	case err != nil:
		return diskerr.Given(op, dir, err)
	case len(list) > 0:
		return amber.Errorf(amber.KindInvalid, op, dir, "the folder is not empty")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return amber.Errorf(amber.KindRefused, op, dir, "other users may read the folder, want mode 0700")
	}
	return nil
}

// empty removes everything in a folder.
func empty(fsys fsx.FS, dir string) error {
	list, err := fsys.ReadDir(dir)
	errs := []error{err}
	for _, e := range list {
		errs = append(errs, fsx.RemoveAll(fsys, filepath.Join(dir, e.Name())))
	}
	return diskerr.Given("empty folder", dir, errors.Join(errs...))
}

// folder is a sink that makes files.
type folder struct {
	fsys fsx.FS
	dir  string
	made map[string]bool // folders, slash-separated
}

func (f *folder) file(name string, mode fs.FileMode) (io.WriteCloser, error) {
	if err := f.mkdir(path.Dir(name)); err != nil {
		return nil, err
	}
	full := filepath.Join(f.dir, filepath.FromSlash(name))
	out, err := fsx.Build(f.fsys, full, mode)
	if err != nil {
		return nil, diskerr.Given("extract bundle", full, err)
	}
	return &extracting{out}, nil
}

func (f *folder) folder(name string) error { return f.mkdir(path.Clean(name)) }

// mkdir makes a folder and those above it.
func (f *folder) mkdir(name string) error {
	if name == "." || f.made[name] {
		return nil
	}
	if err := f.mkdir(path.Dir(name)); err != nil {
		return err
	}
	full := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := f.fsys.Mkdir(full, 0o700); err != nil {
		return diskerr.Given("extract bundle", full, err)
	}
	f.made[name] = true
	return nil
}

// extracting gives the errors of a file their kind: they are not the bundle's.
type extracting struct{ f fsx.File }

func (e *extracting) Write(p []byte) (int, error) {
	n, err := e.f.Write(p)
	return n, diskerr.Given("extract bundle", e.f.Name(), err)
}

func (e *extracting) Close() error { return diskerr.Given("extract bundle", e.f.Name(), e.f.Close()) }
