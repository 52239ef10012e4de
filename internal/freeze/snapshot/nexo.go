package snapshot

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/freeze/bundle"
	"github.com/amber-memory/amber/wire"
)

// The other system knows two documents of runtime state, by these names.
var nexoState = map[string]string{
	amber.StateExtractCursor:     "extract_cursor",
	amber.StateLastConsolidation: "dream_run",
}

// nexoDatabases are its databases, and the kind each has in a manifest.
var nexoDatabases = []struct{ file, kind string }{
	{"long_term.sqlite", "sqlite_long_term"},
	{"vector.sqlite", "sqlite_vector"},
	{"concepts.sqlite", "sqlite_concepts"},
	{"compactions.sqlite", "sqlite_compactions"},
}

// nexo writes the bundle as nexo-memory-snapshot-v1. It leaves out what that format cannot hold,
// and reports that.
func (x *export) nexo(ctx context.Context) error {
	if x.options.Passphrase != "" {
		return amber.Errorf(amber.KindRefused, "export snapshot", string(x.r.ID), "format nexo cannot be encrypted with a passphrase")
	}
	for _, r := range x.options.Recipients {
		if r.Kind != agekey.X25519 {
			return amber.Errorf(amber.KindRefused, "export snapshot", r.Text, "format nexo can only be encrypted to X25519 recipients (age1...)")
		}
	}
	if err := x.nexoTables(ctx); err != nil {
		return err
	}
	if err := x.nexoStates(ctx); err != nil {
		return err
	}
	if err := x.files(ctx, wire.PartNotes, "memory_file", "memory_files/", x.inner.Notes); err != nil {
		return err
	}
	head, err := x.nexoHistory(ctx)
	if err != nil {
		return err
	}
	x.sources = slices.DeleteFunc(x.sources, func(s bundle.Source) bool {
		if s.Kind == "folder" {
			x.leave(wire.PartNotes, strings.TrimPrefix(s.Path, "memory_files/"), wire.SkipUnsupported, "format nexo has no empty folders")
		}
		return s.Kind == "folder"
	})
	if n := frames(x.inner); n > 0 {
		x.leave(partJournal, "", wire.SkipUnsupported, "format nexo has no journal")
	}
	if err := x.leaveSources(); err != nil {
		return err
	}
	c := bundle.NexoContents{Git: head, Touched: x.touched()}
	if c.Contents, err = x.contents(); err != nil {
		return err
	}
	x.settle()
	if err := x.searchText(ctx, []any{c, x.report.LeftOut}); err != nil {
		return err
	}
	x.report.BundleInfo, err = bundle.WriteNexo(ctx, x.file, c, x.sources, x.options)
	return err
}

// nexoTable says which databases are made of a table of memory.db.
var nexoTable = map[string][]string{
	"memories":    {"long_term.sqlite"},
	"relations":   {"long_term.sqlite"},
	"turns":       {"long_term.sqlite"},
	"sessions":    {"long_term.sqlite"},
	"concepts":    {"long_term.sqlite", "concepts.sqlite"},
	"compactions": {"long_term.sqlite", "compactions.sqlite"},
	"embeddings":  {"vector.sqlite"},
}

// touched returns the entries that something was taken out of, in order. Where
// not every row is told, it may be any database.
func (x *export) touched() []string {
	sum := x.report.Redactions
	if sum == nil {
		return nil
	}
	var all []string
	for _, p := range sum.Places {
		switch p.Part {
		case wire.PartMemory:
			table, _, _ := strings.Cut(p.Path, "/")
			for _, file := range nexoTable[table] {
				all = append(all, "sqlite/"+file)
			}
		case wire.PartNotes:
			all = append(all, "memory_files/"+p.Path)
		case wire.PartState:
			all = append(all, "state/"+nexoState[strings.TrimSuffix(p.Path, ".json")]+".json")
		}
	}
	for _, db := range nexoDatabases {
		if sum.More > 0 {
			all = append(all, "sqlite/"+db.file)
		}
	}
	there := map[string]bool{}
	for _, s := range x.sources {
		there[s.Path] = true
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(path string) bool { return !there[path] })
}

// nexoTables makes its databases of the memories.
func (x *export) nexoTables(ctx context.Context) error {
	for _, d := range x.inner.Databases {
		if d.Name != memoryDB {
			x.leave(partOf(d.Name), d.Name, wire.SkipUnsupported, "format nexo has no control plane")
			continue
		}
		file := filepath.Join(x.tmp, d.Name)
		var err error
		if x.redacts() {
			file, err = x.redactedDatabase(ctx, d)
		} else {
			err = x.e.writeDatabase(ctx, x.rep, d, file)
		}
		if err != nil {
			return err
		}
		dir := filepath.Join(x.tmp, "sqlite")
		if err := x.e.o.FS.Mkdir(dir, 0o700); err != nil {
			return fail("stage databases", dir, err)
		}
		left, err := exportNexo(ctx, file, dir, x.r.Agent)
		if err != nil {
			return err
		}
		x.report.LeftOut = append(x.report.LeftOut, left...)
		for _, db := range nexoDatabases {
			if x.redacts() {
				if err := x.search(ctx, file, filepath.Join(dir, db.file)); err != nil {
					return err
				}
			}
			if err := x.staged("sqlite/"+db.file, db.kind, filepath.Join(dir, db.file)); err != nil {
				return err
			}
		}
	}
	return nil
}

// nexoStates adds the documents of runtime state that the format knows.
func (x *export) nexoStates(ctx context.Context) error {
	before := len(x.sources)
	if err := x.files(ctx, wire.PartState, "state", "", x.inner.State); err != nil {
		return err
	}
	states := slices.Clone(x.sources[before:])
	x.sources = x.sources[:before]
	for _, s := range states {
		name, ok := nexoState[strings.TrimSuffix(s.Path, ".json")]
		if !ok {
			x.leave(wire.PartState, s.Path, wire.SkipUnsupported, "format nexo does not have this document")
			continue
		}
		s.Path, s.Kind = "state/"+name+".json", "state_"+name
		x.sources = append(x.sources, s)
	}
	return nil
}

// nexoHistory adds the files of a git folder, made of objects and refs alone.
func (x *export) nexoHistory(ctx context.Context) (bundle.NexoGit, error) {
	g := x.inner.Git
	if g == nil || g.HeadOID == "" {
		return bundle.NexoGit{}, nil
	}
	o := gitobj.Options{Git: x.e.o.Git, FS: x.e.o.FS, Temp: x.tmp}
	refs, objects := refsOf(g), gitobj.ObjectSource(x.e.objects(ctx, x.rep, g))
	if x.redacts() {
		fresh, err := x.freshCommit(ctx)
		if err != nil {
			return bundle.NexoGit{}, err
		}
		from := o
		from.Dir, refs = filepath.Join(x.tmp, wire.PartNotes), fresh
		objects = func(yield func(string, []byte) error) error {
			return gitobj.Objects(ctx, from, refs, gitobj.Refs{}, yield)
		}
	}
	dir := filepath.Join(x.tmp, "raw")
	if err := x.e.o.FS.Mkdir(dir, 0o700); err != nil {
		return bundle.NexoGit{}, fail("stage history", dir, err)
	}
	head := bundle.NexoGit{HeadOID: refs.OID}
	err := gitobj.WriteRaw(ctx, o, dir, refs, func(yield func(string, []byte) error) error {
		return objects(func(oid string, raw []byte) error {
			if oid == refs.OID {
				describe(&head, raw)
			}
			return yield(oid, raw)
		})
	})
	if err != nil {
		return head, err
	}
	return head, x.walk(filepath.Join(dir, ".git"), "git/", "git_bundle")
}

// describe reads who made a commit, when, and what it is about: the first
// paragraph of the message, on one line.
func describe(head *bundle.NexoGit, commit []byte) {
	_, body, _ := strings.Cut(string(commit), "\x00")
	fields, message, _ := strings.Cut(body, "\n\n")
	subject, _, _ := strings.Cut(strings.TrimSpace(message), "\n\n")
	head.HeadSubject = strings.ToValidUTF8(strings.Join(strings.Fields(subject), " "), "\uFFFD")
	for line := range strings.SplitSeq(fields, "\n") {
		author, ok := strings.CutPrefix(line, "author ")
		if !ok {
			continue
		}
		who, when, _ := strings.Cut(author, "> ")
		head.HeadAuthor = strings.ToValidUTF8(who+">", "\uFFFD")
		seconds, _, _ := strings.Cut(when, " ")
		if n, err := strconv.ParseInt(seconds, 10, 64); err == nil {
			head.HeadTimeMS = n * 1000
		}
	}
}

// walk adds every file of a folder.
func (x *export) walk(root, prefix, kind string) error {
	entries, err := x.e.o.FS.ReadDir(root)
	if err != nil {
		return fail("stage files", root, err)
	}
	for _, entry := range entries {
		path := filepath.Join(root, entry.Name())
		if entry.IsDir() {
			err = x.walk(path, prefix+entry.Name()+"/", kind)
		} else {
			err = x.staged(prefix+entry.Name(), kind, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fromNexo makes what a bundle of the other system holds that of an agent of
// ours.
func (u *unpacked) fromNexo(ctx context.Context) error {
	if err := u.e.o.FS.Mkdir(u.path("db"), 0o700); err != nil {
		return fail("open bundle", u.x.Info.File, err)
	}
	left, err := u.e.importNexo(ctx, u.path("sqlite"), u.path("db"), u.x.Info.Agent)
	if err != nil {
		return err
	}
	u.left = append(u.left, left...)
	for _, name := range []string{memoryDB, controlDB} {
		if err := u.hold(ctx, name); err != nil {
			return err
		}
	}
	if u.has(u.path("memory_files")) {
		if err := u.e.o.FS.Rename(u.path("memory_files"), u.path(wire.PartNotes)); err != nil {
			return fail("open bundle", u.x.Info.File, err)
		}
	}
	if from := u.path("state/dream_run.json"); u.has(from) {
		if err := u.e.o.FS.Rename(from, u.path("state/"+amber.StateLastConsolidation+".json")); err != nil {
			return fail("open bundle", u.x.Info.File, err)
		}
	}
	return u.nexoGit(ctx)
}

// nexoGit takes objects and refs of the git folder, and nothing else.
func (u *unpacked) nexoGit(ctx context.Context) error {
	dir := u.path("git")
	if !u.has(dir) {
		return nil
	}
	refs, ok, err := gitobj.RawRefs(u.e.o.FS, dir)
	if err != nil || !ok {
		return err
	}
	u.refs = refs
	u.objects = func(yield func(string, []byte) error) error {
		return gitobj.RawObjects(ctx, gitobj.Options{GitDir: dir, Git: u.e.o.Git, FS: u.e.o.FS, Temp: u.dir}, refs, yield)
	}
	for _, entry := range u.x.Entries {
		// Every repository has a configuration and samples of hooks, so their loss is not reported.
		// Any other hook is a program that a person wrote, so its loss is reported.
		hook, ok := strings.CutPrefix(entry.Path, "git/hooks/")
		if ok && !strings.HasSuffix(hook, ".sample") {
			u.left = append(u.left, wire.Skipped{Part: partGit, Path: "hooks/" + hook, Reason: wire.SkipUnsupported, Detail: "only objects and refs of a history are imported"})
		}
	}
	return nil
}
