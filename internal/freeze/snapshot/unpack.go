package snapshot

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/names"
	"github.com/amber-memory/amber/internal/freeze/bundle"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// unpacked is a bundle in a scratch folder, every byte of it compared with its
// manifest. It is an [origin]; what a restore takes from it is moved, so it
// serves one.
type unpacked struct {
	e         *Engine
	dir       string
	x         *bundle.Extracted
	signature sign.SignatureReport
	held      []storedDatabase
	left      []wire.Skipped
	refs      gitobj.Refs
	marks     []repo.JournalMark
	handles   []fsx.File // that are open
	// objects hands out those of the history, nil without one. Bundle is the file
	// of a history that is a git pack.
	objects gitobj.ObjectSource
	bundle  string
}

// unpack reads a bundle whose signature is acceptable into a scratch folder,
// which the function it returns removes. Errors: those of [bundle.Bundle.Extract]; untrusted;
// refused; cross_tenant for one of another tenant.
func (e *Engine) unpack(ctx context.Context, file string, tenant amber.TenantID, noSidecar bool) (*unpacked, func() error, error) {
	b, err := e.readBundle(ctx, file, noSidecar, false)
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	if err := e.mayUnpack(ctx, b, tenant); err != nil {
		return nil, nil, err
	}
	dir, done, err := e.scratch("bundle")
	if err != nil {
		return nil, nil, err
	}
	u := &unpacked{e: e, dir: dir, left: []wire.Skipped{}}
	remove := func() error { return errors.Join(u.closeAll(), done()) }
	if err := u.fill(ctx, b, tenant); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return u, remove, nil
}

// mayUnpack judges a bundle by what it says outside, before anything is
// unpacked: what is inside is judged again.
func (e *Engine) mayUnpack(ctx context.Context, b *bundle.Bundle, tenant amber.TenantID) error {
	info, s := b.Info(), b.Signature()
	if s.Status != "" && s.Status != sign.SignatureMissing {
		s, err := e.standing(ctx, s)
		if err == nil {
			err = e.Acceptable(info.File, s)
		}
		if err != nil {
			return err
		}
	}
	if info.Tenant != "" && info.Tenant != tenant {
		return otherTenant(info)
	}
	return nil
}

func otherTenant(info wire.BundleInfo) error {
	return amber.Errorf(amber.KindCrossTenant, "open bundle", info.File, "the bundle belongs to tenant %s", info.Tenant)
}

// opened keeps a file to be closed with the folder.
func (u *unpacked) opened(path string) (fsx.File, error) {
	f, err := u.e.o.FS.OpenFile(path, os.O_RDONLY, 0)
	if err == nil {
		u.handles = append(u.handles, f)
	}
	return f, err
}

func (u *unpacked) closeAll() (err error) {
	for _, f := range u.handles {
		err = errors.Join(err, f.Close())
	}
	u.handles = nil
	return err
}

// readBundle opens a bundle with the identities at hand, or with none.
func (e *Engine) readBundle(ctx context.Context, file string, noSidecar, noIdentity bool) (*bundle.Bundle, error) {
	o := bundle.ReadOptions{NoSidecar: noSidecar, FS: e.o.FS}
	if !noIdentity {
		var err error
		if o.Identities, err = e.keys.identities(); err != nil {
			return nil, err
		}
	}
	return bundle.Read(ctx, file, o)
}

func (u *unpacked) fill(ctx context.Context, b *bundle.Bundle, tenant amber.TenantID) (err error) {
	if u.x, err = b.Extract(ctx, u.dir); err != nil {
		return err
	}
	if u.signature, err = u.e.standing(ctx, u.x.Signature); err != nil {
		return err
	}
	if err := u.e.Acceptable(u.x.Info.File, u.signature); err != nil {
		return err
	}
	if u.x.Info.Tenant != tenant {
		return otherTenant(u.x.Info)
	}
	for _, entry := range u.x.Entries {
		if rel, ok := u.noteOf(entry.Path); ok {
			if err := mayUnpackNote(rel); err != nil {
				return err
			}
		}
	}
	if u.x.Format == wire.FormatNexo {
		err = u.fromNexo(ctx)
	} else {
		err = u.fromAmber(ctx)
	}
	return err
}

// mayUnpackNote refuses a file that some git would take its settings from,
// wherever it lies.
func mayUnpackNote(rel string) error {
	if names.InGitFolder(rel) {
		return amber.Errorf(amber.KindRefused, "open bundle", rel, "a bundle must not write to this path")
	}
	return mayWrite(rel)
}

// noteOf returns the path of a note inside the notes.
func (u *unpacked) noteOf(path string) (string, bool) {
	prefix := "notes/"
	if u.x.Format == wire.FormatNexo {
		prefix = "memory_files/"
	}
	return strings.CutPrefix(path, prefix)
}

// fromAmber describes what a bundle of Amber's own format holds.
func (u *unpacked) fromAmber(ctx context.Context) error {
	c := u.x.Contents
	for _, d := range c.Databases {
		if d.Name != memoryDB && d.Name != controlDB || d.Path != "db/"+d.Name {
			return amber.Errorf(amber.KindDamaged, "open bundle", u.x.Info.File, "database %q is not one of an agent: want memory.db or control.db", d.Name)
		}
		if err := u.hold(ctx, d.Name); err != nil {
			return err
		}
	}
	for _, entry := range u.x.Entries {
		name, ok := strings.CutPrefix(entry.Path, "db/")
		if ok && !slices.ContainsFunc(u.held, func(d storedDatabase) bool { return d.name == name }) {
			return amber.Errorf(amber.KindDamaged, "open bundle", u.x.Info.File, "database %q is not one of an agent: want memory.db or control.db", name)
		}
	}
	marked := map[string]bool{}
	for _, m := range c.Marks {
		u.marks = append(u.marks, repo.JournalMark(m))
		marked["journal/"+m.Key] = true
		if m.Frames > 0 && !u.has(u.path("journal/"+m.Key)) {
			return amber.Errorf(amber.KindDamaged, "open bundle", u.x.Info.File, "journal entries that the manifest names are missing")
		}
	}
	for _, entry := range u.x.Entries {
		if entry.Kind == "source" || entry.Kind == "journal" && !marked[entry.Path] {
			u.left = append(u.left, wire.Skipped{Part: entry.Kind, Path: entry.Path, Reason: wire.SkipUnsupported, Detail: "Amber does not import this kind of entry"})
		}
	}
	u.refs = gitobj.Refs{Head: c.GitHead, OID: c.GitOID}
	for _, r := range c.Refs {
		u.refs.Refs = append(u.refs.Refs, gitobj.Ref(r))
	}
	if file := u.path("git/memdir.bundle"); u.has(file) {
		u.bundle = file
		u.objects = func(yield func(string, []byte) error) error {
			return gitobj.ReadGitPack(ctx, gitobj.Options{Git: u.e.o.Git, FS: u.e.o.FS, Temp: u.dir}, file, u.refs, yield)
		}
	}
	return nil
}

// path returns the place of an entry.
func (u *unpacked) path(entry string) string {
	return filepath.Join(u.dir, filepath.FromSlash(entry))
}

func (u *unpacked) has(path string) bool {
	_, err := u.e.o.FS.Lstat(path)
	return err == nil
}

// hold makes a database of the folder one that can be restored: its digest is
// that of the file.
func (u *unpacked) hold(ctx context.Context, name string) error {
	f, err := u.e.o.FS.OpenFile(u.path("db/"+name), os.O_RDONLY, 0)
	if err != nil {
		return fail("open bundle", name, err)
	}
	defer f.Close()
	for _, entry := range u.x.Entries {
		if entry.Path == "db/"+name { // it was hashed on the way
			digest, err := repo.ParseID(entry.SHA256)
			u.held = append(u.held, storedDatabase{name, entry.Bytes, digest})
			return err
		}
	}
	h := sha256.New()
	n, err := io.Copy(h, &contextReader{ctx, f})
	u.held = append(u.held, storedDatabase{name, n, repo.ID(h.Sum(nil))})
	return fail("open bundle", name, err)
}

func (u *unpacked) databases() []storedDatabase { return u.held }

func (u *unpacked) database(_ context.Context, name, path string) error {
	return fail("take database", name, u.e.o.FS.Rename(u.path("db/"+name), path))
}

func (u *unpacked) notes(ctx context.Context, dir string) (lost string, err error) {
	if u.objects != nil {
		if err := fsx.MkdirAll(u.e.o.FS, dir, 0o700); err != nil {
			return "", fail("make notes", dir, err)
		}
		if lost, err = u.history(ctx, dir); err != nil {
			return "", err
		}
	}
	return lost, u.move("notes", dir)
}

// history makes the repository of the notes.
func (u *unpacked) history(ctx context.Context, dir string) (lost string, err error) {
	if u.bundle == "" {
		return u.e.buildHistory(ctx, dir, u.refs, u.objects)
	}
	return lostHistory(gitobj.BuildFromGitPack(ctx, gitobj.Options{Git: u.e.o.Git, FS: u.e.o.FS, Temp: u.dir}, dir, u.bundle, u.refs))
}

func (u *unpacked) state(_ context.Context, dir string) error { return u.move("state", dir) }

// move puts what is in a folder of the bundle into one of the generation.
func (u *unpacked) move(from, to string) error {
	entries, err := u.e.o.FS.ReadDir(u.path(from))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = fsx.MkdirAll(u.e.o.FS, to, 0o700)
	}
	for _, entry := range entries {
		if err == nil {
			err = u.e.o.FS.Rename(filepath.Join(u.path(from), entry.Name()), filepath.Join(to, entry.Name()))
		}
	}
	return fail("take "+from, to, err)
}

func (u *unpacked) journal() []repo.JournalMark { return u.marks }

func (u *unpacked) frames(_ context.Context, m repo.JournalMark) (io.Reader, error) {
	path := u.path("journal/" + m.Key)
	if m.Key == "" || !filepath.IsLocal(m.Key) || !u.has(path) {
		return nil, nil
	}
	f, err := u.opened(path)
	return f, fail("read captured journal", m.Key, err)
}

func (u *unpacked) room() (bytes int64) {
	for _, entry := range u.x.Entries {
		if !strings.HasPrefix(entry.Path, "db/") {
			bytes += entry.Bytes + blockBytes
		}
	}
	return bytes
}

func (u *unpacked) view(_ context.Context, name string) (pages, error) {
	f, err := u.opened(u.path("db/" + name))
	if err != nil {
		return nil, fail("open bundle", name, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fail("open bundle", name, err)
	}
	return io.NewSectionReader(f, 0, info.Size()), nil
}

func (u *unpacked) files(_ context.Context, part string) (map[string]content, error) {
	list := map[string]content{}
	for _, entry := range u.x.Entries {
		rel, ok := strings.CutPrefix(entry.Path, part+"/")
		if part == wire.PartNotes {
			rel, ok = u.noteOf(entry.Path)
		}
		if !ok || entry.Kind == "folder" {
			continue
		}
		info, err := u.e.o.FS.Lstat(u.path(part + "/" + rel))
		if err != nil {
			continue // not taken over
		}
		id, err := repo.ParseID(entry.SHA256)
		if err != nil {
			return nil, err
		}
		c := content{mode: repo.ModeFile, parts: []repo.ID{id}}
		if info.Mode()&0o100 != 0 {
			c.mode = repo.ModeExec
		}
		list[rel] = c
	}
	return list, nil
}

func (u *unpacked) hasher() contentHasher { return &fileHasher{sha256.New()} }

// fileHasher tells files apart by the digest of all their bytes.
type fileHasher struct{ hash.Hash }

func (h *fileHasher) end() []repo.ID { return []repo.ID{repo.ID(h.Sum(nil))} }

// info returns the description of the bundle.
func (u *unpacked) info() wire.BundleInfo { return u.x.Info }
