package foreign

import (
	"errors"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
)

// MaxUnpacked bounds all files together of an archive that was uploaded, and the copies that are made of them.
const MaxUnpacked = 16 << 30

const maxNameBytes = 255

// Upload is a file that a client has sent: a file of a program, or an archive of a folder.
type Upload struct {
	Real     string    // where it lies on this machine; no report names it
	Name     string    // of the file or folder, as the sender calls it
	Modified time.Time // when the sender's file was changed; zero: not known
}

// OpenUpload looks at an upload. Its archives are bounded as a whole, too: the sender is a stranger. Errors: invalid for
// a name that is none of a file, and for an archive that unpacks to too much; damaged.
func OpenUpload(u Upload) (*Tree, error) {
	if err := CheckUploadName(u.Name); err != nil {
		return nil, err
	}
	info, err := os.Stat(u.Real)
	if err != nil {
		return nil, amber.Errorf(kindOf(err), opOpen, u.Name, "the uploaded file is gone")
	}
	t := &Tree{path: u.Name, sent: true, most: MaxUnpacked, byName: map[string]int{}}
	err = t.addRoot(File{Name: u.Name, Size: info.Size(), Modified: u.Modified, real: u.Real, open: openReal(u.Real)})
	if err == nil {
		err = t.checkUnpacked(info.Size())
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	t.sort()
	return t, nil
}

// CheckUploadName checks the name of an upload. The error is of kind invalid.
func CheckUploadName(name string) error {
	odd := func(r rune) bool { return unicode.IsControl(r) || r == '/' || r == '\\' }
	if name == "" || name == "." || name == ".." || len(name) > maxNameBytes || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return amber.Errorf(amber.KindInvalid, opOpen, "", "name is %.40q, want the name of a file or folder of at most %d bytes, without the folders above it", name, maxNameBytes)
	}
	return nil
}

// checkUnpacked refuses an archive that says it holds too much for its size. The size that it says is an upper bound:
// an entry that holds more cannot be read to its end.
func (t *Tree) checkUnpacked(size int64) error {
	total := t.Bytes()
	switch {
	case total > MaxUnpacked || t.copied > MaxUnpacked:
		return amber.Errorf(amber.KindInvalid, opOpen, t.path, "archive has more than %d bytes unpacked, the limit", int64(MaxUnpacked))
	case total > freeBytes && total > MaxRatio*size:
		return amber.Errorf(amber.KindInvalid, opOpen, t.path, "archive unpacks to more than %d times its size, the limit", MaxRatio)
	}
	return nil
}

// rationed is r as far as the tree may still copy.
func (t *Tree) rationed(r io.Reader) io.Reader {
	if t.most == 0 {
		return r
	}
	return &rationed{r, t}
}

type rationed struct {
	io.Reader
	t *Tree
}

// Read implements [io.Reader].
func (r *rationed) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.t.copied += int64(n); r.t.copied > r.t.most {
		return 0, amber.Errorf(amber.KindInvalid, "unpack", "", "archive has more than %d bytes unpacked, the limit", r.t.most)
	}
	return n, err
}
