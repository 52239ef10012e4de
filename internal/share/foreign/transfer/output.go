package transfer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/foreign"
)

const opExport = "export"

// Stream is an output of formats that write one file, into w.
func Stream(w io.Writer) foreign.Output { return stream{w} }

type stream struct{ w io.Writer }

// Create implements [foreign.Output].
func (s stream) Create(name string) (io.WriteCloser, error) {
	if name != "" {
		return nil, amber.Errorf(amber.KindInvalid, opExport, name, "the format writes several files, want a folder to write them to")
	}
	return open{s.w}, nil
}

// Existing implements [foreign.Output].
func (s stream) Existing(string) ([]byte, error) { return nil, nil }

type open struct{ io.Writer }

// Close implements [io.Closer]; the writer is the caller's.
func (open) Close() error { return nil }

// Path is an output at a path: a file, which is in place when all of the export is written, or a folder, which is made. A file
// that is there is replaced only if the format has read it before.
func Path(path string, folder bool) foreign.Output {
	return &pathOutput{fsys: fsx.OS(), path: path, folder: folder, read: map[string]bool{}}
}

type pathOutput struct {
	fsys   fsx.FS
	path   string
	folder bool
	read   map[string]bool
	whole  *fsx.Staged // the one file; in place when the export is done
}

// maxExisting bounds a file that a format extends.
const maxExisting = 4 << 20

// locate returns where a file of the export lies.
func (p *pathOutput) locate(name string) (string, error) {
	switch {
	case name == "" && !p.folder:
		return p.path, nil
	case !p.folder, !fs.ValidPath(name), !filepath.IsLocal(filepath.FromSlash(name)):
		return "", amber.Errorf(amber.KindInvalid, opExport, name, "name of a file does not stay within %s", p.path)
	}
	return filepath.Join(p.path, filepath.FromSlash(name)), nil
}

// Create implements [foreign.Output].
func (p *pathOutput) Create(name string) (io.WriteCloser, error) {
	file, err := p.locate(name)
	if err != nil {
		return nil, err
	}
	if _, err := p.fsys.Lstat(file); err == nil && !p.read[name] {
		return nil, amber.Errorf(amber.KindConflict, opExport, file, "file is there already, want a path that is free").WithHint("amber export -o PATH")
	}
	if err := fsx.MkdirAll(p.fsys, filepath.Dir(file), 0o700); err != nil {
		return nil, amber.Errorf(amber.KindInternal, opExport, file, "%w", err)
	}
	if p.read[name] {
		return &replacing{fsys: p.fsys, path: file}, nil
	}
	s, err := fsx.StageNew(p.fsys, file, 0o600)
	if err != nil {
		return nil, amber.Errorf(amber.KindInternal, opExport, file, "%w", err)
	}
	if !p.folder {
		p.whole = s
		return open{s}, nil
	}
	return staged{s}, nil
}

// finish puts a file into its place, or removes it after an error.
func (p *pathOutput) finish(err error) error {
	switch {
	case p.whole == nil:
	case err != nil:
		err = errors.Join(err, p.whole.Abort())
	default:
		err = p.whole.Commit()
	}
	if err != nil && p.folder {
		err = &amber.Error{Op: opExport, Kind: amber.KindOf(err), ID: p.path, Err: fmt.Errorf("the folder is incomplete: %w", err)}
	}
	return err
}

// Existing implements [foreign.Output].
func (p *pathOutput) Existing(name string) ([]byte, error) {
	file, err := p.locate(name)
	if err != nil {
		return nil, err
	}
	info, err := p.fsys.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, amber.Errorf(amber.KindRefused, opExport, file, "is %s, want a file", info.Mode().Type())
	}
	b, err := fsx.ReadFile(p.fsys, file, maxExisting)
	if err != nil {
		return nil, amber.Errorf(amber.KindInternal, opExport, file, "%w", err)
	}
	p.read[name] = true
	return b, nil
}

// staged commits a file when it is closed.
type staged struct{ *fsx.Staged }

// Close implements [io.Closer].
func (s staged) Close() error { return s.Commit() }

// replacing gathers a file that takes the place of another in one step.
type replacing struct {
	fsys fsx.FS
	path string
	text []byte
}

// Write implements [io.Writer].
func (r *replacing) Write(b []byte) (int, error) {
	r.text = append(r.text, b...)
	return len(b), nil
}

// Close implements [io.Closer].
func (r *replacing) Close() error {
	mode := fs.FileMode(0o600)
	if info, err := os.Lstat(r.path); err == nil {
		mode = info.Mode().Perm()
	}
	return fsx.Replace(r.fsys, r.path, mode, r.text)
}
