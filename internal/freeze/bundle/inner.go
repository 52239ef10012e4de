package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

const (
	innerFormat  = "amber-bundle-inner"
	innerVersion = 1
)

// inner is the manifest inside: what the snapshot is, and every entry.
type inner struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Contents
	Entries       []entry    `json:"entries"` // in the order of the archive, without the manifest itself
	ExpandedBytes int64      `json:"expanded_bytes"`
	Signer        sign.KeyID `json:"signer"`
}

// entry is a file or an empty folder in a bundle.
type entry struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`
	Mode   string `json:"mode"` // "0600", "0700"
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // "" for a folder
}

func (in *inner) signer() sign.KeyID { return in.Signer }

// check looks at the manifest alone. The entries of a bundle in the other format have kinds of their own, so kinds are
// looked at elsewhere.
func (in *inner) check() error {
	if err := cmp.Or(in.Contents.check(), envelope.CheckSigner(in.Signer)); err != nil {
		return err
	}
	var sum int64
	var taken takenPaths
	files := map[string]string{} // kinds by path
	for _, e := range in.Entries {
		if err := cmp.Or(e.check(), taken.add(e.Path)); err != nil {
			return err
		}
		if sum += e.Size; sum < 0 {
			return errors.New("the sizes of the entries are too large")
		}
		files[e.Path] = e.Kind
	}
	if sum != in.ExpandedBytes {
		return fmt.Errorf("expanded_bytes is %d, the entries have %d", in.ExpandedBytes, sum)
	}
	for _, d := range in.Databases {
		if files[d.Path] != KindDatabase {
			return fmt.Errorf("the database %q has no entry", d.Path)
		}
	}
	return nil
}

func (e *entry) check() error {
	if err := CheckPath(e.Path); err != nil {
		return fmt.Errorf("path %q: %v", clip.Name(e.Path), err)
	}
	mode, err := parseMode(e.Mode)
	switch {
	case err != nil || e.Size < 0:
		return fmt.Errorf("entry %q of mode %q and %d bytes", e.Path, clip.Name(e.Mode), e.Size)
	case e.isFolder() && (mode != 0o700 || e.Size != 0 || e.SHA256 != ""):
		return fmt.Errorf("a folder %q of another form", e.Path)
	case e.isFolder():
		return nil
	}
	return envelope.CheckDigest("the digest of "+e.Path, e.SHA256)
}

func (e *entry) isFolder() bool { return e.Kind == KindFolder }

// same reports whether e, as a manifest lists it, is what was found; a found entry has no kind.
func (e *entry) same(found entry) bool {
	found.Kind = e.Kind
	return *e == found
}

func (e *entry) public() wire.BundleEntry {
	return wire.BundleEntry{Path: e.Path, Kind: e.Kind, Bytes: e.Size, SHA256: e.SHA256}
}

func publicEntries(list []entry) []wire.BundleEntry {
	out := make([]wire.BundleEntry, len(list))
	for i := range list {
		out[i] = list[i].public()
	}
	return out
}

func modeText(m fs.FileMode) string { return fmt.Sprintf("%04o", m.Perm()) }

// parseMode reads a mode; there are two.
func parseMode(s string) (fs.FileMode, error) {
	switch s {
	case "0600":
		return 0o600, nil
	case "0700":
		return 0o700, nil
	}
	return 0, fmt.Errorf("mode %q", clip.Name(s))
}

// innerOf returns the bytes of the entry that is the inner manifest.
func innerOf(ctx context.Context, c Contents, entries []entry, signer sign.Signer) ([]byte, error) {
	in := inner{Format: innerFormat, Version: innerVersion, Contents: c.filled(), Entries: append([]entry{}, entries...)}
	for _, e := range entries {
		in.ExpandedBytes += e.Size
	}
	if signer != nil {
		in.Signer = signer.KeyID()
	}
	b, err := seal(ctx, &in, signer)
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

// filled returns c with lists that are empty instead of nil: equal contents are to give equal bytes.
func (c Contents) filled() Contents {
	if c.Refs == nil {
		c.Refs = []Ref{}
	}
	if c.Databases == nil {
		c.Databases = []Database{}
	}
	if c.Marks == nil {
		c.Marks = []Mark{}
	}
	if c.Skipped == nil {
		c.Skipped = []wire.Skipped{}
	}
	return c
}

// readInner reads the entry that is the inner manifest.
func readInner(b []byte) (*inner, sign.SignatureReport, error) {
	if len(b) == 0 || b[len(b)-1] != '\n' {
		return nil, sign.SignatureReport{}, errors.New("the inner manifest does not end with a line feed")
	}
	in := &inner{}
	sig, err := unseal(b[:len(b)-1], innerFormat, innerVersion, in)
	if err != nil {
		return nil, sign.SignatureReport{}, err
	}
	return in, sig, nil
}
