package snapshot

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/bundle"
	"github.com/amber-memory/amber/internal/agekey"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/repo"
)

var _ amber.Bundler = (*Engine)(nil)

// Redactor takes secrets out of copies that are about to leave. Safe for
// concurrent use.
type Redactor interface {
	// Policy names the set of rules.
	Policy() string
	// Database rewrites a copy of memory.db or control.db.
	Database(ctx context.Context, path string) (amber.RedactionReport, error)
	// Document returns a file without secrets, and how often each rule matched.
	// It may return b.
	Document(name string, b []byte) ([]byte, []amber.RedactionCount)
	// Frames copies captured journal entries.
	Frames(ctx context.Context, m Mark, in io.Reader, out io.Writer) ([]amber.RedactionCount, error)
}

// Nexo converts databases from and to those of nexo-memory-snapshot-v1. What
// cannot be carried over is told.
type Nexo interface {
	// ExportNexo makes its databases in dir from a memory.db.
	ExportNexo(ctx context.Context, memory, dir string, agent amber.AgentID) (left []amber.Skipped, err error)
	// ImportNexo makes memory.db and control.db in gen from its databases in dir.
	ImportNexo(ctx context.Context, dir, gen string, tenant amber.TenantID, agent amber.AgentID) (left []amber.Skipped, err error)
}

// Export implements [amber.Bundler].
func (e *Engine) Export(ctx context.Context, r amber.ExportRequest) (report amber.ExportReport, err error) {
	if r, err = r.Normalize(); err != nil {
		return report, err
	}
	x := &export{e: e, r: r, report: amber.ExportReport{LeftOut: []amber.Skipped{}}}
	if x.options, err = x.write(ctx); err != nil {
		return x.report, err
	}
	err = e.with(ctx, r.Tenant, func(v *vault) error {
		x.v = v
		if err := x.inherit(ctx); err != nil {
			return err
		}
		entry, inner, err := e.find(ctx, v, r.SnapshotRef)
		if err != nil {
			return err
		}
		if err := e.linked(ctx, v, entry); err != nil {
			return err
		}
		x.entry, x.inner = entry, inner
		if x.file, err = x.place(); err != nil {
			return err
		}
		return x.run(ctx)
	})
	if noRepository(err) && x.v == nil {
		err = noSnapshot(r.SnapshotRef)
	}
	return x.report, fail("export snapshot", string(r.ID), err)
}

// export is one bundle being written.
type export struct {
	e       *Engine
	v       *vault
	r       amber.ExportRequest
	entry   repo.Entry
	inner   repo.Inner
	file    string
	options bundle.WriteOptions
	tmp     string // a scratch folder
	sources []bundle.Source
	report  amber.ExportReport
}

func (x *export) redacts() bool { return x.report.Redactions != nil }

// write decides whom the bundle is for and who signs it.
func (x *export) write(ctx context.Context) (bundle.WriteOptions, error) {
	o := bundle.WriteOptions{Level: x.r.Level, Passphrase: x.r.Passphrase, FS: x.e.o.FS}
	var err error
	if o.Recipients, err = x.e.recipients(ctx, x.r.Recipients); err != nil {
		return o, err
	}
	if o.Passphrase != "" && len(o.Recipients) > 0 {
		return o, amber.Errorf(amber.KindRefused, "export snapshot", string(x.r.ID), "recipients are configured, and a passphrase cannot stand beside them")
	}
	if !x.r.NoSign && !x.e.o.NoSign {
		o.Signer, err = x.e.o.Keys.Signer(ctx, true)
	}
	return o, err
}

// inherit encrypts what comes out of an encrypted repository to those who may
// read that, unless somebody was named.
func (x *export) inherit(ctx context.Context) error {
	if x.encrypts() || x.v.repo.KeyID() == "" {
		return nil
	}
	texts, err := x.v.repo.Recipients(ctx)
	if err == nil {
		x.options.Recipients, err = agekey.ParseRecipients(texts)
	}
	x.report.Warnings = append(x.report.Warnings, "the repository is encrypted, and so is the bundle: to the same recipients")
	return err
}

// place returns the path of the bundle. Nothing is there yet.
func (x *export) place() (string, error) {
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
	if _, err := x.e.o.FS.Lstat(file); err == nil {
		return "", amber.Errorf(amber.KindConflict, "export snapshot", file, "there is a file of that name")
	}
	if _, err := os.Stat(filepath.Dir(file)); errors.Is(err, fs.ErrNotExist) {
		return "", amber.Errorf(amber.KindNotFound, "export snapshot", filepath.Dir(file), "there is no such folder")
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
	defer func() { err = errors.Join(err, done()) }()
	x.tmp = tmp
	if !x.r.NoRedact {
		if x.e.o.Redactor == nil {
			return amber.Errorf(amber.KindUnsupported, "export snapshot", string(x.r.ID), "nothing here can redact")
		}
		x.report.Redactions = &amber.RedactionReport{
			Policy: x.e.o.Redactor.Policy(), Rules: []amber.RedactionCount{}, Places: []amber.RedactionPlace{}, Notes: []string{},
		}
	}
	if x.r.Format == amber.FormatNexo {
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
	c := x.contents()
	for _, d := range x.inner.Databases {
		path := "db/" + d.Name
		if err := x.database(ctx, d, path); err != nil {
			return err
		}
		c.Databases = append(c.Databases, bundle.Database{Path: path, Name: d.Name, ApplicationID: d.ApplicationID, Schema: d.Schema})
	}
	for part, files := range map[string]*repo.FilesEntry{amber.PartNotes: x.inner.Notes, amber.PartState: x.inner.State} {
		kind := strings.TrimSuffix(part, "s") // note, state
		if err := x.files(ctx, part, kind, part+"/", files); err != nil {
			return err
		}
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
	for _, s := range x.inner.Sources {
		x.leave("source:"+s.Name, "", amber.SkipUnsupported, "bundles hold no sources")
	}
	x.settle()
	c.Skipped = append(c.Skipped, x.report.LeftOut...)
	x.report.BundleInfo, err = bundle.Write(ctx, x.file, c, x.sources, x.options)
	return err
}

// contents says what the bundle holds, as far as every format can.
func (x *export) contents() bundle.Contents {
	m := x.entry.Manifest
	return bundle.Contents{
		ID: m.ID, Tenant: m.Tenant, Agent: m.Agent, Device: m.Device, Label: x.label(), CreatedAt: m.CreatedAt,
		Incarnation: m.Incarnation, Generation: m.Generation,
		Skipped: x.skipped(), SkippedMore: x.inner.SkippedMore, Redactions: x.report.Redactions,
	}
}

// skipped returns what the snapshot lacks, as it may be told.
func (x *export) skipped() []amber.Skipped {
	list := slices.Clone(x.inner.Skipped)
	if x.redacts() {
		for i := range list {
			list[i].Path, list[i].Detail = x.clean(list[i].Path), x.clean(list[i].Detail)
		}
	}
	return list
}

// clean takes secrets out of a name or a line of text.
func (x *export) clean(text string) string {
	b, counts := x.e.o.Redactor.Document("text", []byte(text))
	x.redacted("manifest", "", counts, int64(len(text)))
	return string(b)
}

// label returns the label of the snapshot, as it may leave.
func (x *export) label() string {
	label := x.entry.Manifest.Label
	if label == "" {
		label = x.inner.Label
	}
	if x.redacts() {
		label = x.clean(label)
	}
	return label
}

// leave notes what is not in the bundle.
func (x *export) leave(part, path, reason, detail string) {
	x.report.LeftOut = append(x.report.LeftOut, amber.Skipped{Part: part, Path: path, Reason: reason, Detail: detail})
}
