package snapshot

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/bundle"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
)

var _ wire.Bundler = (*Engine)(nil)

// Export implements [wire.Bundler].
func (e *Engine) Export(ctx context.Context, r wire.ExportRequest) (report wire.ExportReport, err error) {
	if r, err = r.Normalize(); err != nil {
		return report, err
	}
	x := &export{e: e, r: r, report: wire.ExportReport{LeftOut: []wire.Skipped{}}}
	if x.options, err = x.write(ctx); err != nil {
		return x.report, err
	}
	err = e.with(ctx, r.Tenant, func(rep *repository) error {
		x.rep = rep
		if err := x.inherit(ctx); err != nil {
			return err
		}
		entry, inner, err := rep.find(ctx, r.SnapshotRef)
		if err != nil {
			return err
		}
		if err := rep.linked(ctx, entry); err != nil {
			return err
		}
		x.entry, x.inner = entry, inner
		if x.file, err = x.place(ctx); err != nil {
			return err
		}
		return x.run(ctx)
	})
	if noRepository(err) && x.rep == nil {
		err = noSnapshot(r.SnapshotRef)
	}
	return x.report, fail("export snapshot", string(r.ID), err)
}

// export is one bundle being written.
type export struct {
	e       *Engine
	rep     *repository
	r       wire.ExportRequest
	entry   repo.Entry
	inner   repo.Inner
	file    string
	options bundle.WriteOptions
	tmp     string // a scratch folder
	settled func() // ends what works beside, and waits for it; nil: nothing does
	sources []bundle.Source
	report  wire.ExportReport

	redaction *redaction // nil: the bundle is exact
	opaque    []string   // files of which not all was seen
}

func (x *export) redacts() bool { return x.redaction != nil }

// write decides whom the bundle is for and who signs it.
func (x *export) write(ctx context.Context) (bundle.WriteOptions, error) {
	o := bundle.WriteOptions{Level: x.r.Level, Passphrase: x.r.Passphrase, FS: x.e.o.FS}
	var err error
	if o.Recipients, err = x.e.recipients(ctx, x.r.Recipients); err != nil {
		return o, err
	}
	if o.Passphrase != "" && len(o.Recipients) > 0 {
		return o, amber.Errorf(amber.KindRefused, "export snapshot", string(x.r.ID), "a passphrase cannot be combined with recipients, and recipients are configured")
	}
	if !x.r.NoSign && !x.e.o.Keys.NoSign {
		o.Signer, err = x.e.keys.signer(ctx, true)
	}
	return o, err
}

// inherit encrypts the bundle of an encrypted repository to the recipients of that repository,
// unless the request names recipients or a passphrase.
func (x *export) inherit(ctx context.Context) error {
	if x.encrypts() || x.rep.KeyID() == "" {
		return nil
	}
	texts, err := x.rep.Recipients(ctx)
	if err == nil {
		x.options.Recipients, err = agekey.ParseRecipients(texts)
	}
	x.report.Warnings = append(x.report.Warnings, "the bundle is encrypted to the recipients of the repository")
	return err
}

// place returns the path of the bundle. Nothing is there yet.
func (x *export) place(ctx context.Context) (string, error) {
	name := string(x.r.ID) + ".tar.zst"
	if x.encrypts() {
		name += ".age"
	}
	file := x.r.File
	if file == "" {
		dir := x.e.o.Home.SnapshotsDir(x.r.Tenant, x.r.Agent)
		if err := fsx.MkdirAll(x.e.o.FS, dir, 0o700); err != nil {
			return "", fail("make folder of bundles", dir, err)
		}
		file = dir
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, name)
	}
	if strings.HasSuffix(x.r.File, "/") && file == x.r.File {
		return "", amber.Errorf(amber.KindNotFound, "export snapshot", file, "the folder does not exist")
	}
	if strings.HasSuffix(file, ".age") && !x.encrypts() {
		return "", amber.Errorf(amber.KindInvalid, "export snapshot", file, "the name ends in .age, but no recipient or passphrase is given")
	}
	if _, err := x.e.o.FS.Lstat(file); err == nil {
		return "", amber.Errorf(amber.KindConflict, "export snapshot", file, "the file exists already")
	}
	if _, err := os.Stat(filepath.Dir(file)); errors.Is(err, fs.ErrNotExist) {
		return "", amber.Errorf(amber.KindNotFound, "export snapshot", filepath.Dir(file), "the folder does not exist")
	}
	// A killed export may have left temporary files there. They are of no use.
	if _, err := x.e.sweepFolder(ctx, filepath.Dir(file), x.e.o.Clock().Add(-x.e.o.Grace), maxSweepDepth); err != nil {
		return "", fail("sweep temporary files", filepath.Dir(file), err)
	}
	return filepath.Abs(file)
}

func (x *export) encrypts() bool { return len(x.options.Recipients) > 0 || x.options.Passphrase != "" }

// run stages what has to be made or changed, and writes the bundle.
func (x *export) run(ctx context.Context) (err error) {
	tmp, done, err := x.e.scratch("export")
	if err != nil {
		return err
	}
	defer func() {
		if x.settled != nil {
			x.settled()
		}
		err = errors.Join(err, done())
	}()
	x.tmp = tmp
	if !x.r.NoRedact {
		x.report.Redactions = &wire.RedactionReport{
			Policy: redactionPolicy, Rules: []wire.RedactionCount{}, Places: []wire.RedactionPlace{}, Notes: []string{},
		}
		x.redaction = newRedaction(x.e.o.Redact)
		if err := x.learn(ctx); err != nil {
			return err
		}
	}
	if x.r.Format == wire.FormatNexo {
		return x.nexo(ctx)
	}
	return x.amber(ctx)
}

// contextReader reads until its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// amber writes the bundle in Amber's own format.
func (x *export) amber(ctx context.Context) error {
	c, err := x.contents()
	if err != nil {
		return err
	}
	for _, d := range x.inner.Databases {
		path := "db/" + d.Name
		if err := x.database(ctx, d, path); err != nil {
			return err
		}
		c.Databases = append(c.Databases, bundle.Database{Path: path, Name: d.Name, ApplicationID: d.ApplicationID, Schema: d.Schema})
	}
	if err := x.files(ctx, wire.PartNotes, "note", "notes/", x.inner.Notes); err != nil {
		return err
	}
	if err := x.files(ctx, wire.PartState, "state", "state/", x.inner.State); err != nil {
		return err
	}
	refs, err := x.history(ctx)
	if err != nil {
		return err
	}
	c.GitHead, c.GitOID = refs.Head, refs.OID
	for _, r := range refs.Refs {
		c.Refs = append(c.Refs, bundle.Ref(r))
	}
	if c.Marks, err = x.journal(ctx); err != nil {
		return err
	}
	if err := x.leaveSources(); err != nil {
		return err
	}
	x.settle()
	c.Skipped = append(c.Skipped, x.report.LeftOut...)
	if err := x.searchText(ctx, c); err != nil {
		return err
	}
	x.report.BundleInfo, err = bundle.Write(ctx, x.file, c, x.sources, x.options)
	return err
}

// contents says what the bundle holds, as far as every format can.
func (x *export) contents() (bundle.Contents, error) {
	m := x.entry.Manifest
	label, err := x.text(x.label(), wire.MaxLabelBytes)
	if err != nil {
		return bundle.Contents{}, err
	}
	skipped, err := x.skipped()
	return bundle.Contents{
		ID: m.ID, Tenant: m.Tenant, Agent: m.Agent, Device: m.Device, Label: label, CreatedAt: m.CreatedAt,
		Incarnation: m.Incarnation, Generation: m.Generation,
		Skipped: skipped, SkippedMore: x.inner.SkippedMore, Redactions: x.report.Redactions,
	}, err
}

// skipped returns what the snapshot lacks, as it may be told.
func (x *export) skipped() ([]wire.Skipped, error) {
	list := slices.Clone(x.inner.Skipped)
	for i := range list {
		for _, s := range []*string{&list[i].Part, &list[i].Path, &list[i].Detail} {
			var err error
			if *s, err = x.text(*s, maxTold); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// label returns the label of the snapshot.
func (x *export) label() string {
	return cmp.Or(x.entry.Manifest.Label, x.inner.Label)
}

// leaveSources says that there are none in a bundle.
func (x *export) leaveSources() error {
	for _, s := range x.inner.Sources {
		name, err := x.text(s.Name, maxTold)
		if err != nil {
			return err
		}
		x.leave("source:"+name, "", wire.SkipUnsupported, "bundles hold no sources")
	}
	return nil
}

// leave notes what is not in the bundle.
func (x *export) leave(part, path, reason, detail string) {
	x.report.LeftOut = append(x.report.LeftOut, wire.Skipped{Part: part, Path: path, Reason: reason, Detail: detail})
}
