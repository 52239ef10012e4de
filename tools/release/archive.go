package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path"
	"time"
)

// entry is a file or a folder of an archive.
type entry struct {
	name string // slash-separated; of a folder with a slash at the end
	mode int64
	uid  int
	data []byte
}

// tarOf is the one tar of these entries: the same bytes on every machine.
func tarOf(at time.Time, entries []entry) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Uid: e.uid, Gid: e.uid, Size: int64(len(e.data)), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if e.name[len(e.name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func gzipOf(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b) // without a name and a time
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}

func zipOf(at time.Time, entries []entry) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at}
		h.SetMode(os.FileMode(e.mode))
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// archiveName is the file with the program for a system.
func (r *release) archiveName(t target) string {
	if t.OS == "windows" {
		return r.stem(t) + ".zip"
	}
	return r.stem(t) + ".tar.gz"
}

// writeArchives packs the program for each system, with its licence and, where systemd may be, its units.
func writeArchives(_ context.Context, r *release) error {
	for _, t := range r.targets {
		entries, err := r.archiveEntries(t)
		if err != nil {
			return err
		}
		var packed []byte
		if t.OS == "windows" {
			packed, err = zipOf(r.Time, entries)
		} else if packed, err = tarOf(r.Time, entries); err == nil {
			packed, err = gzipOf(packed)
		}
		if err == nil {
			err = r.write(r.archiveName(t), packed)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *release) archiveEntries(t target) ([]entry, error) {
	program, err := os.ReadFile(r.binary(t))
	if err != nil {
		return nil, err
	}
	out := []entry{{name: t.Binary(), mode: 0o755, data: program}}
	for _, name := range []string{"LICENSE", "README.md"} {
		b, err := r.read(name)
		if err != nil {
			return nil, err
		}
		out = append(out, entry{name: name, mode: 0o644, data: b})
	}
	if t.OS != "linux" {
		return out, nil
	}
	for _, name := range []string{"amber.service", "amber-user.service"} {
		b, err := r.render(name, where{Program: "/usr/local/bin/amber", UserProgram: "%h/.local/bin/amber"})
		if err != nil {
			return nil, err
		}
		out = append(out, entry{name: path.Join("systemd", name), mode: 0o644, data: b})
	}
	return out, nil
}
