package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
)

const (
	// maxRedacted bounds a file that is redacted: it is read to memory.
	maxRedacted = 16 << 20
	// maxTold bounds a path or a detail that the manifest tells.
	maxTold = 4096
	// maxOpaque bounds how many files without text the report names.
	maxOpaque = 100
)

// learn looks for secrets in everything that the snapshot holds, also in what
// the format of the bundle has no room for. The databases lie in the scratch
// folder afterwards; files are read again when they are staged.
func (x *export) learn(ctx context.Context) error {
	for _, d := range x.inner.Databases {
		file := filepath.Join(x.tmp, d.Name)
		if err := x.e.writeDatabase(ctx, x.rep, d, file); err != nil {
			return err
		}
		if err := x.redaction.learnDatabase(ctx, file); err != nil {
			return fail("look for secrets", d.Name, err)
		}
	}
	for _, files := range []*repo.FilesEntry{x.inner.Notes, x.inner.State} {
		if err := x.learnFiles(ctx, files); err != nil {
			return err
		}
	}
	if err := x.learnJournal(ctx); err != nil {
		return err
	}
	x.learnText(x.label())
	for _, s := range x.inner.Skipped {
		x.learnText(s.Part, s.Path, s.Detail)
	}
	for _, s := range x.inner.Sources {
		x.learnText(s.Name)
	}
	m := x.entry.Manifest
	x.redaction.seal(string(m.ID), string(m.Tenant), string(m.Agent), m.Device, m.Incarnation)
	return nil
}

func (x *export) learnText(texts ...string) {
	for _, text := range texts {
		x.redaction.learn("text", []byte(text))
	}
}

func (x *export) learnFiles(ctx context.Context, files *repo.FilesEntry) error {
	if files == nil {
		return nil
	}
	err := x.rep.WalkTree(ctx, files.Tree, func(rel string, entry repo.TreeEntry) error {
		x.learnText(rel)
		if entry.Mode == repo.ModeDir || entry.Size > maxRedacted {
			return nil
		}
		b, err := x.read(ctx, entry)
		if err == nil {
			x.redaction.learn(rel, b)
		}
		return err
	})
	return fail("look for secrets", "", err)
}

func (x *export) learnJournal(ctx context.Context) error {
	from := &snapshotOrigin{e: x.e, rep: x.rep, inner: x.inner}
	for _, m := range x.inner.Marks {
		x.learnText(m.Host, string(m.SessionID), m.Cursor)
		frames, err := from.frames(ctx, m)
		if err != nil {
			return err
		}
		if frames == nil {
			continue
		}
		if err := x.redaction.learnFrames(ctx, m, frames); err != nil {
			return fail("look for secrets", m.Key, err)
		}
	}
	return nil
}

// read returns a file of at most maxRedacted bytes.
func (x *export) read(ctx context.Context, entry repo.TreeEntry) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(max(entry.Size, 0)))
	err := x.rep.ReadFile(ctx, entry, &b)
	return b.Bytes(), err
}

// text returns a name or a line as it may be told, at most so many bytes of it.
func (x *export) text(text string, most int) (string, error) {
	if !x.redacts() {
		return text, nil
	}
	clean, err := x.redaction.file("text", []byte(text))
	if err != nil {
		return "", err
	}
	x.redacted("manifest", "", clean.counts, int64(len(text)))
	return clip.Bytes(string(clean.bytes), most), nil
}

// vaultFolder is the folder of the state that holds the files of a vault.
const vaultFolder = "vault"

// mayName reports whether a file or folder may leave under its name. One with a
// secret in it is left out, and said. So is the vault: it may hold anything in any
// form, compressed too, and a file with another content would be a damaged one.
func (x *export) mayName(part, rel string, isDir bool) (bool, error) {
	if part == wire.PartState && isDir && rel == vaultFolder {
		x.leave(part, rel, wire.SkipUnsupported, "files of a vault cannot be redacted")
		return false, nil
	}
	clean, err := x.redaction.file("name", []byte(rel))
	if err != nil || len(clean.counts) == 0 {
		return err == nil, err
	}
	told, detail := clip.Bytes(string(clean.bytes), maxTold), "the name contains a secret"
	if isDir {
		detail += "; the folder is left out with its content"
	}
	x.leave(part, told, wire.SkipBadName, detail)
	x.redacted(part, told, clean.counts, int64(len(rel)))
	return false, nil
}

// mayTell reports whether the mark of a session may leave. One with a secret in
// it is left out with its entries, and said.
func (x *export) mayTell(m repo.JournalMark) (bool, error) {
	session, err := x.redaction.file("text", []byte(m.SessionID))
	if err != nil {
		return false, err
	}
	counts := session.counts
	for _, text := range []string{m.Key, m.Host, m.Cursor} {
		clean, err := x.redaction.file("text", []byte(text))
		if err != nil {
			return false, err
		}
		counts = append(counts, clean.counts...)
	}
	if len(counts) == 0 {
		return true, nil
	}
	told := clip.Bytes(string(session.bytes), maxTold)
	x.leave(partJournal, told, wire.SkipBadName, "a name of the session contains a secret")
	x.redacted(partJournal, told, counts, int64(len(m.SessionID)+len(m.Host)+len(m.Cursor)))
	return false, nil
}

// redactedDatabase takes the secrets out of the copy of a database that lies in
// the scratch folder.
func (x *export) redactedDatabase(ctx context.Context, d repo.DatabaseEntry) (string, error) {
	file := filepath.Join(x.tmp, d.Name)
	report, err := x.redaction.database(ctx, file)
	if err != nil {
		return "", fail("redact database", d.Name, err)
	}
	sum := x.report.Redactions
	sum.Matches += report.Matches
	sum.Scanned += report.Scanned
	sum.More += report.More
	sum.Rules = append(sum.Rules, report.Rules...)
	sum.Places = append(sum.Places, report.Places...)
	sum.Notes = append(sum.Notes, report.Notes...)
	return file, nil
}

// redactedFile stages a file without secrets.
func (x *export) redactedFile(ctx context.Context, part, kind, prefix, rel string, entry repo.TreeEntry) error {
	b, err := x.read(ctx, entry)
	if err != nil {
		return err
	}
	clean, err := x.redaction.file(rel, b)
	if err != nil {
		return err
	}
	x.redacted(part, rel, clean.counts, int64(len(b)))
	if clean.opaque {
		x.opaque = append(x.opaque, part+"/"+rel)
	}
	mode := fs.FileMode(0o600)
	if entry.Mode == repo.ModeExec {
		mode = 0o700
	}
	file := filepath.Join(x.tmp, part, filepath.FromSlash(rel))
	if err := x.stage(file, mode, clean.bytes); err != nil {
		return err
	}
	if err := x.search(ctx, "", file); err != nil {
		return err
	}
	return x.staged(prefix+rel, kind, file)
}

// redactedFrames stages the entries of a session without secrets.
func (x *export) redactedFrames(ctx context.Context, m repo.JournalMark, frames io.Reader, size int64) (string, error) {
	file := filepath.Join(x.tmp, "journal-"+m.Key)
	f, err := fsx.Build(x.e.o.FS, file, 0o600)
	if err != nil {
		return "", fail("stage journal", file, err)
	}
	counts, err := x.redaction.frames(ctx, m, frames, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fail("redact journal", m.Key, err)
	}
	x.redacted(partJournal, m.Key, counts, size)
	return file, x.search(ctx, "", file)
}

// search looks for secrets in the bytes of a staged file.
func (x *export) search(ctx context.Context, of, file string) error {
	f, err := x.e.o.FS.OpenFile(file, os.O_RDONLY, 0)
	if err != nil {
		return fail("search for secrets", file, err)
	}
	err = x.redaction.search(ctx, of, f)
	return fail("search for secrets", file, errors.Join(err, f.Close()))
}

// searchText looks for secrets in what the manifest will say.
func (x *export) searchText(ctx context.Context, contents any) error {
	if !x.redacts() {
		return nil
	}
	b, err := json.Marshal(contents)
	if err != nil {
		return fail("search for secrets", "manifest", err)
	}
	return fail("search for secrets", "manifest", x.redaction.search(ctx, "", bytes.NewReader(b)))
}

// redacted notes what was taken out of something.
func (x *export) redacted(part, path string, counts []wire.RedactionCount, scanned int64) {
	sum := x.report.Redactions
	sum.Scanned += scanned
	if len(counts) == 0 {
		return
	}
	var n int64
	for _, c := range counts {
		n += c.Count
	}
	sum.Matches += n
	sum.Rules = append(sum.Rules, counts...)
	sum.Places = append(sum.Places, wire.RedactionPlace{Part: part, Path: path, Count: n})
}

// settle brings the report of the redaction into order.
func (x *export) settle() {
	sum := x.report.Redactions
	if sum == nil {
		return
	}
	counts := map[string]int64{}
	for _, c := range sum.Rules {
		counts[c.Rule] += c.Count
	}
	sum.Rules = sum.Rules[:0]
	for rule, n := range counts {
		sum.Rules = append(sum.Rules, wire.RedactionCount{Rule: rule, Count: n})
	}
	slices.SortFunc(sum.Rules, func(a, b wire.RedactionCount) int { return cmp.Compare(a.Rule, b.Rule) })
	slices.SortStableFunc(sum.Places, func(a, b wire.RedactionPlace) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Path, b.Path))
	})
	if more := len(sum.Places) - wire.MaxRedactionPlaces; more > 0 {
		sum.Places = sum.Places[:wire.MaxRedactionPlaces]
		sum.More += int64(more)
	}
	sum.Notes = append(sum.Notes, x.redaction.notes()...)
	for i, file := range x.opaque {
		if i == maxOpaque {
			sum.Notes = append(sum.Notes, fmt.Sprintf("%d more files are not text either", len(x.opaque)-i))
			break
		}
		sum.Notes = append(sum.Notes, clip.Bytes(file+" is not text: packed or encoded content was not searched", maxTold))
	}
}
