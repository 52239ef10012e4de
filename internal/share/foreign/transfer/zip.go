package transfer

import (
	"archive/zip"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// ZipOutput is an output of formats that write a folder: a zip file, which is written as the files come.
type ZipOutput struct {
	zip   *zip.Writer
	at    time.Time
	made  map[string]bool
	name  string // of the file that is being written; "" for none
	broke error
}

// Zip is an output into w, a zip file. At is the time of its entries. Close completes it.
func Zip(w io.Writer, at time.Time) *ZipOutput {
	return &ZipOutput{zip: foreign.NewZip(w), at: at, made: map[string]bool{}}
}

// Create implements [foreign.Output]. A file is written to its end before the next one begins.
func (z *ZipOutput) Create(name string) (io.WriteCloser, error) {
	switch {
	case !fs.ValidPath(name) || name == ".":
		return nil, amber.Errorf(amber.KindInvalid, opExport, name, "name of a file does not stay within the folder")
	case z.made[name]:
		return nil, amber.Errorf(amber.KindInternal, opExport, name, "file is written twice")
	case z.name != "":
		return nil, amber.Errorf(amber.KindInternal, opExport, name, "file is begun before %s is complete", z.name)
	}
	w, err := z.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: z.at})
	if err != nil {
		return nil, err
	}
	z.made[name], z.name = true, name
	return &zipFile{w, z}, nil
}

// Existing implements [foreign.Output]: a new zip file holds nothing.
func (*ZipOutput) Existing(string) ([]byte, error) { return nil, nil }

// Close writes the end of the zip file. An output whose file was left open stays incomplete. Errors: those of w.
func (z *ZipOutput) Close() error {
	if z.name != "" {
		return amber.Errorf(amber.KindInternal, opExport, z.name, "file is not complete")
	}
	return errors.Join(z.broke, z.zip.Close())
}

type zipFile struct {
	io.Writer
	z *ZipOutput
}

// Write implements [io.Writer].
func (f *zipFile) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	if err != nil {
		f.z.broke = err
	}
	return n, err
}

// Close implements [io.Closer].
func (f *zipFile) Close() error {
	f.z.name = ""
	return nil
}
