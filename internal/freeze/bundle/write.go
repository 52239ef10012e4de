package bundle

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// WriteOptions say how a bundle is written.
type WriteOptions struct {
	Level      int                // of zstd, 1 to 19; 0: 3
	Recipients []agekey.Recipient // empty: not encrypted, unless there is a passphrase
	Passphrase string             // instead of recipients
	Signer     sign.Signer        // nil: not signed
	FS         fsx.FS             // nil: the operating system's

	work int // of scrypt; 0: that of age. For tests.
}

const defaultLevel = 3

func (o WriteOptions) orDefaults() (WriteOptions, error) {
	if o.Level == 0 {
		o.Level = defaultLevel
	}
	if o.FS == nil {
		o.FS = fsx.OS()
	}
	switch {
	case o.Level < 1 || o.Level > 19:
		return o, amber.Errorf(amber.KindInvalid, "write bundle", "", "the level is not 1 to 19")
	case o.Passphrase != "" && len(o.Recipients) > 0:
		return o, amber.Errorf(amber.KindInvalid, "write bundle", "", "a passphrase and recipients exclude each other")
	}
	return o, nil
}

func (o *WriteOptions) encrypts() bool { return o.Passphrase != "" || len(o.Recipients) > 0 }

// kinds lists the kinds of the recipients.
func (o *WriteOptions) kinds() (list []string) {
	if o.Passphrase != "" {
		return []string{string(agekey.Scrypt)}
	}
	for _, r := range o.Recipients {
		list = append(list, string(r.Kind))
	}
	return list
}

// Write writes a bundle of Amber's own format and its sidecar, both with mode 0600. They are durable when it returns.
// Every source is opened once, in the order of the paths. Without encryption equal contents, sources, level and signer
// give equal bytes. After an error that is not [fsx.ErrInPlace] there is nothing of that name, and after a crash
// nothing that looks like a bundle.
//
// Errors: conflict when there is anything of that name; invalid; quota; internal when a source has other bytes than it
// says, or the disk fails; those of the sources and of the signer.
func Write(ctx context.Context, file string, c Contents, sources []Source, o WriteOptions) (info wire.BundleInfo, err error) {
	if o, err = o.orDefaults(); err != nil {
		return info, err
	}
	list, err := plan(sources, checkKind, func(a, b Source) int { return strings.Compare(a.Path, b.Path) })
	if err != nil {
		return info, err
	}
	return stageBundle(file, c, o, func(w *writing) (wire.BundleInfo, error) { return w.amber(ctx, list) })
}

// stageBundle checks what is said about a snapshot, and fills a file that has
// its name when it is whole.
func stageBundle(file string, c Contents, o WriteOptions, fill func(w *writing) (wire.BundleInfo, error)) (info wire.BundleInfo, err error) {
	if err := c.check(); err != nil {
		return info, amber.Errorf(amber.KindInvalid, "write bundle", file, "%w", err)
	}
	s, err := stage(o.FS, file)
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, s.abort()) }()
	if info, err = fill(&writing{file: s, contents: c, o: o}); err != nil {
		return wire.BundleInfo{}, diskerr.Given("write bundle", file, err)
	}
	return info, nil
}

// writing is a bundle being written.
type writing struct {
	file     *staged
	contents Contents
	o        WriteOptions
	shell    shell
}

// amber writes Amber's own format.
func (w *writing) amber(ctx context.Context, list []Source) (wire.BundleInfo, error) {
	out := outerOf(&w.contents, w.o.encrypts(), w.o.Signer)
	room, err := out.room()
	if err != nil {
		return wire.BundleInfo{}, err
	}
	if w.shell, err = newShell(w.file, room, w.o); err != nil {
		return wire.BundleInfo{}, err
	}
	err = w.compressed(func(tar io.Writer) error {
		a := newArchive(tar, posixHeader, w.contents.CreatedAt.UnixMilli()/1000)
		for _, s := range list {
			if err := a.add(ctx, s); err != nil {
				return err
			}
		}
		manifest, err := innerOf(ctx, w.contents, a.entries, w.o.Signer)
		if err != nil {
			return err
		}
		out.fill(a.entries, manifest)
		if err := cmp.Or(checkManifest(manifest), a.addBytes(ctx, manifestName, "", manifest)); err != nil {
			return err
		}
		return a.close()
	})
	if err != nil {
		return wire.BundleInfo{}, err
	}
	out.PayloadBytes, out.PayloadSHA256 = w.shell.payload()
	out.HeaderSHA256 = w.shell.headerDigest()
	manifest := []byte(nil)
	if w.o.Passphrase == "" {
		if manifest, err = seal(ctx, &out, w.o.Signer); err != nil {
			return wire.BundleInfo{}, err
		}
	}
	info := infoOf(wire.FormatAmber, &w.contents)
	info.Entries, info.Expanded = out.Entries, out.ExpandedBytes
	return w.finish(ctx, info, manifest)
}

// checkManifest makes sure that readers of the bundle accept its manifest.
func checkManifest(b []byte) error {
	if most := (Limits{}).orDefaults().ManifestBytes; int64(len(b)) > most {
		return quota("the manifest is too long", most)
	}
	return nil
}

// fill adds what is known once the entries are written.
func (o *outer) fill(entries []entry, manifest []byte) {
	o.InnerSHA256, o.Entries = envelope.Digest(manifest), len(entries)
	for _, e := range entries {
		o.ExpandedBytes += e.Size
	}
}

// compressed calls fn with a writer of the tar.
func (w *writing) compressed(fn func(io.Writer) error) error {
	z, err := newFrameWriter(w.shell, w.o.Level)
	if err != nil {
		return err
	}
	if err := fn(z); err != nil {
		_ = z.Close() // it may be writing still
		return err
	}
	return cmp.Or(z.Close(), w.shell.Close())
}

// finish puts the outer manifest into its room, reads the bundle back and gives it its name.
func (w *writing) finish(ctx context.Context, info wire.BundleInfo, manifest []byte) (wire.BundleInfo, error) {
	front, err := w.shell.place(manifest)
	if err == nil && front != nil {
		_, err = w.file.file.WriteAt(front, 0)
	}
	if err != nil {
		return info, err
	}
	whole, sum, err := w.file.digest(ctx, w.shell.front())
	if err != nil {
		return info, err
	}
	if n, _ := w.shell.payload(); sum != w.shell.checksum() || n+w.shell.front() != w.file.size {
		return info, amber.Errorf(amber.KindInternal, "write bundle", w.file.path, "the file reads back with other bytes than were written")
	}
	if err := w.file.commit(ctx, whole); err != nil {
		return info, err
	}
	info.File, info.Bytes, info.SHA256 = w.file.path, w.file.size, whole
	info.Encrypted, info.Recipients = w.o.encrypts(), w.o.kinds()
	if w.o.Signer != nil {
		info.SignedBy = string(w.o.Signer.KeyID())
	}
	return info, nil
}

// infoOf returns what contents tell.
func infoOf(f wire.BundleFormat, c *Contents) wire.BundleInfo {
	return wire.BundleInfo{
		Format: f, ID: c.ID, Agent: c.Agent, Tenant: c.Tenant, Label: c.Label, CreatedAt: c.CreatedAt,
		Redacted: c.Redactions != nil, GitOID: c.GitOID,
	}
}
