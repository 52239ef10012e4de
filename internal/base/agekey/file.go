package agekey

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// ReadIdentities reads the secret keys in a file, as [ParseIdentities] does. A nil fsys is the operating system's.
// Errors: not_found; refused when the group or others may read the file, or when it may not be read; invalid.
func ReadIdentities(fsys fsx.FS, path string) ([]age.Identity, error) {
	const op = "read identities"
	fsys = cmp.Or(fsys, fsx.OS())
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, diskerr.Given(op, path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, diskerr.Given(op, path, err)
	case !info.Mode().IsRegular():
		return nil, diskerr.Given(op, path, fsx.ErrNotRegular)
	case isOpen(info.Mode()):
		return nil, amber.Errorf(amber.KindRefused, op, path, "other users may read the secret key: mode is %04o, want 0600", info.Mode().Perm()).WithHint("chmod 600 " + path)
	}
	ids, err := ParseIdentities(f)
	if err != nil {
		return nil, &amber.Error{Op: op, Kind: amber.KindOf(err), ID: path, Err: errors.Unwrap(err)}
	}
	return ids, nil
}

// isOpen reports whether anybody but the owner may do something with a file. On Windows it is false: the mode says
// nothing there.
func isOpen(mode fs.FileMode) bool {
	return runtime.GOOS != "windows" && mode.Perm()&0o077 != 0
}

// Own returns the identities of a home, read from path; without such a file it makes one, mode 0600, that holds an
// X25519 and a hybrid identity, and returns once it is durable. Several callers at once get the same identities. A nil
// fsys is the operating system's. Errors: those of [ReadIdentities] but not_found.
func Own(fsys fsx.FS, path string) ([]age.Identity, error) {
	const op = "make identity"
	fsys = cmp.Or(fsys, fsx.OS())
	ids, err := ReadIdentities(fsys, path)
	if amber.KindOf(err) != amber.KindNotFound {
		if err == nil {
			// Its maker may have died before it was durable, and what is encrypted to it is not to outlive it.
			_, err = fsx.SyncFile(fsys, path)
		}
		return ids, diskerr.Given(op, path, err)
	}
	text, err := newIdentities()
	if err != nil {
		return nil, diskerr.Given(op, path, err)
	}
	if err := fsx.MkdirAll(fsys, filepath.Dir(path), 0o700); err != nil {
		return nil, diskerr.Given(op, path, err)
	}
	err = fsx.CreateNew(fsys, path, 0o600, text)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, diskerr.Given(op, path, err)
	}
	return ReadIdentities(fsys, path) // the bytes on disk decide, whichever process wrote them
}

// newIdentities returns the text of a new file of identities.
func newIdentities() ([]byte, error) {
	x, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	h, err := age.GenerateHybridIdentity()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Secret keys of this amber home. Who has them reads what it encrypts; keep a copy in a safe place.\n")
	fmt.Fprintf(&b, "# public key: %s\n%s\n", x.Recipient(), x)
	fmt.Fprintf(&b, "# public key: %s\n%s\n", h.Recipient(), h)
	return b.Bytes(), nil
}
