package bundle

import (
	"context"
	"os"
	"sync"

	"filippo.io/age"

	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// ReadOptions say how a bundle is read.
type ReadOptions struct {
	Identities []age.Identity // to open it with; those of a passphrase too
	NoSidecar  bool           // go without the sidecar
	Limits     Limits
	FS         fsx.FS // nil: the operating system's
}

// Bundle is a bundle that was opened. It is safe for concurrent use; Close may be called twice.
type Bundle struct {
	path  string
	o     ReadOptions
	file  fsx.File
	size  int64
	shape shape
	close func() error
}

// Read opens a bundle, finds out what it is and reads its outer manifest, if it has one. It compares nothing: that is
// for [Bundle.Verify] and [Bundle.Extract], and damage is reported by them. The caller closes the bundle.
//
// Errors: not_found; invalid for something that is no regular file; refused when it may not be read; too_new; internal.
func Read(ctx context.Context, file string, o ReadOptions) (*Bundle, error) {
	if o.FS == nil {
		o.FS = fsx.OS()
	}
	o.Limits = o.Limits.orDefaults()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := o.FS.OpenFile(file, os.O_RDONLY, 0)
	if err != nil {
		return nil, diskerr.Given("open bundle", file, err)
	}
	b := &Bundle{path: file, o: o, file: f, close: sync.OnceValue(f.Close)}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fsx.ErrNotRegular
	default:
		b.size = info.Size()
		b.shape, err = look(f, b.size)
	}
	if err != nil {
		_ = b.Close()
		return nil, diskerr.Given("open bundle", file, err)
	}
	return b, nil
}

// Close closes the file.
func (b *Bundle) Close() error { return diskerr.Given("close bundle", b.path, b.close()) }

// Info returns what the bundle says about itself to everybody. The format is "" and most of it empty for an encrypted
// one without an outer manifest. SHA256 is "" until all of it was read, by [Bundle.Verify] or [Bundle.Extract].
// SignedBy is "" unless the signature matches.
func (b *Bundle) Info() wire.BundleInfo {
	info := b.shape.info()
	info.File, info.Bytes = b.path, b.size
	return info
}

// Signature returns what the signature of the outer manifest is worth; the zero value when there is no outer manifest
// that can be read. Standing is left to the caller.
func (b *Bundle) Signature() sign.SignatureReport { return b.shape.signature }
