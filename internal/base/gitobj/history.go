package gitobj

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// Reader reads objects of a history, wherever it is kept. It checks the id of each.
type Reader interface {
	// Objects hands out the objects with these ids, each once, in any order. Fn asks for nothing. The error is of
	// kind damaged where one is missing or is not what its id says.
	Objects(oids []string, fn func(oid string, raw []byte) error) error
	// FirstParents hands out a commit, its first parent, the first parent of that, and so on: at most that many.
	// Fewer end with a commit without parents.
	FirstParents(oid string, most int, fn func(oid string, raw []byte) error) error
}

// Getter reads single objects of a reader.
func Getter(r Reader) ObjectGetter {
	return func(oid string) (raw []byte, err error) {
		err = r.Objects([]string{oid}, func(_ string, b []byte) error {
			raw = b
			return nil
		})
		return raw, err
	}
}

// Change is a commit, and what a file became by it.
type Change struct {
	OID string
	Commit
	File TreeEntry // a zero one where the file was removed
}

// How many commits are looked at together: few at first, since the last change of a file is often one of them.
const (
	firstStep = 8
	largeStep = 128
)

// FileLog returns the last limit commits that changed the file at a slash-separated path, newest first, along first parents: those of
// git log --first-parent. A folder at the path is no file. Errors: damaged; quota beyond a million commits; unreachable when
// ctx ends; those of r.
func FileLog(ctx context.Context, r Reader, head, file string, limit int) (log []Change, err error) {
	l := line{r: r, next: head}
	for most := firstStep; len(log) < limit; most = min(2*most, largeStep) {
		commits, err := l.step(ctx, most)
		if err != nil || len(commits) == 0 {
			return log, wrap("read history", err)
		}
		d := differ{ctx: ctx, r: r, commits: commits, left: map[string]bool{file: true}}
		if err := d.run(); err != nil {
			return nil, wrap("read history", err)
		}
		for i, c := range commits[:len(commits)-1] {
			is, changed := d.changed[i][file]
			if c.File = is; changed && len(log) < limit {
				log = append(log, c)
			}
		}
	}
	return log, nil
}

// line goes along first parents.
type line struct {
	r    Reader
	next string
	last *Change // of the step before
	seen int
}

// step returns some commits, newest first, and one behind them that is compared with: the next step begins with that one. Behind the
// first commit of all there is a zero one. No commits are the end.
func (l *line) step(ctx context.Context, most int) (commits []Change, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.last != nil {
		commits = append(commits, *l.last)
	}
	if l.next == "" && len(commits) == 0 {
		return nil, nil
	}
	if l.next != "" {
		err = l.r.FirstParents(l.next, most, func(oid string, raw []byte) error {
			c, err := ReadCommit(oid, raw)
			if err != nil {
				return err
			}
			if oid != l.next {
				return badObject(oid, "is not the parent of the commit before it")
			}
			l.next = ""
			if len(c.Parents) > 0 {
				l.next = c.Parents[0]
			}
			commits = append(commits, Change{OID: oid, Commit: c})
			if l.seen++; l.seen > maxHistory {
				return amberError(amber.KindQuota, "", fmt.Errorf("more than %d commits", maxHistory))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if l.next == "" {
		l.last = nil
		return append(commits, Change{}), nil
	}
	if len(commits) < 2 { // a reader that reads one by one
		l.last = &commits[0]
		return l.step(ctx, most)
	}
	l.last = &commits[len(commits)-1]
	return commits, nil
}

// Files returns the files of a commit by their paths, folders left out. Where want is not nil, Files looks only into
// folders for which it returns true. Errors: damaged; quota where there are more than most files and folders;
// unreachable when ctx ends; those of r.
func Files(ctx context.Context, r Reader, commit string, most int, want func(folder string) bool) (map[string]TreeEntry, error) {
	files, err := allFiles(ctx, r, commit, most, want)
	return files, wrap("list files", err)
}

func allFiles(ctx context.Context, r Reader, commit string, most int, want func(string) bool) (map[string]TreeEntry, error) {
	files := map[string]TreeEntry{}
	if commit == "" {
		return files, nil
	}
	var root string
	err := r.Objects([]string{commit}, func(oid string, raw []byte) error {
		c, err := ReadCommit(oid, raw)
		root = c.Tree
		return err
	})
	level := map[string][]string{root: {""}} // paths by tree
	for n, depth := 0, 0; err == nil && len(level) > 0; depth++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if depth > maxTreeDepth {
			return nil, amberError(amber.KindQuota, "", errors.New("the trees are nested too deep"))
		}
		below := map[string][]string{}
		err = inParts(keys(level), func(part []string) error {
			return r.Objects(part, func(oid string, raw []byte) error {
				entries, err := ReadTree(oid, raw)
				if err != nil {
					return err
				}
				if n += len(entries) * len(level[oid]); n > most {
					return amberError(amber.KindQuota, "", fmt.Errorf("more than %d files and folders", most))
				}
				for _, dir := range level[oid] {
					for _, e := range entries {
						at := path.Join(dir, e.Name)
						switch {
						case !e.IsTree():
							files[at] = e
						case want == nil || want(at):
							below[e.OID] = append(below[e.OID], at)
						}
					}
				}
				return nil
			})
		})
		level = below
	}
	return files, err
}

func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// partSize is how many objects are asked for together.
const partSize = 256

func inParts(oids []string, fn func([]string) error) error {
	for part := range slices.Chunk(oids, partSize) {
		if err := fn(part); err != nil {
			return err
		}
	}
	return nil
}

// LastChanges returns the last commit that changed each of some files, by their paths, along first parents. A file that no
// commit has changed is not among them. It reads no further than it must. Errors: those of [FileLog].
func LastChanges(ctx context.Context, r Reader, head string, files []string) (map[string]Change, error) {
	left := make(map[string]bool, len(files))
	for _, f := range files {
		left[f] = true
	}
	found := make(map[string]Change, len(files))
	l := line{r: r, next: head}
	for most := firstStep; len(left) > 0; most = min(2*most, largeStep/4) {
		commits, err := l.step(ctx, most)
		if err != nil || len(commits) == 0 {
			return found, wrap("read history", err)
		}
		d := differ{ctx: ctx, r: r, commits: commits, left: left}
		if err := d.run(); err != nil {
			return nil, wrap("read history", err)
		}
		for i, c := range commits[:len(commits)-1] {
			for file, e := range d.changed[i] {
				if left[file] {
					c.File = e
					found[file] = c
					delete(left, file)
				}
			}
		}
	}
	return found, nil
}

// differ finds what each of some commits changed.
type differ struct {
	ctx     context.Context
	r       Reader
	commits []Change
	left    map[string]bool        // the files that are asked about
	names   map[string]bool        // of these files and of the folders on the way, without the folders before
	changed []map[string]TreeEntry // by commit and path
}

// pair is a folder before and after a commit; "" is none.
type pair struct {
	commit   int
	dir      string
	was, now string
}

func (d *differ) run() error {
	folders := map[string]bool{"": true} // that are asked about
	d.names = map[string]bool{}
	for file := range d.left {
		d.names[path.Base(file)] = true
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			folders[dir], d.names[path.Base(dir)] = true, true
		}
	}
	var level []pair
	for i := range d.commits[:len(d.commits)-1] {
		d.changed = append(d.changed, map[string]TreeEntry{})
		level = append(level, pair{i, "", d.commits[i+1].Tree, d.commits[i].Tree})
	}
	for len(level) > 0 {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		level = slices.DeleteFunc(level, func(p pair) bool { return p.was == p.now || !folders[p.dir] })
		trees, err := d.read(level)
		if err != nil {
			return err
		}
		var below []pair
		for _, p := range level {
			below = append(below, d.compare(p, trees[p.was], trees[p.now])...)
		}
		level = below
	}
	return nil
}

// read returns the trees of a level.
func (d *differ) read(level []pair) (map[string]map[string]TreeEntry, error) {
	trees := map[string]map[string]TreeEntry{}
	for _, p := range level {
		for _, oid := range []string{p.was, p.now} {
			if oid != "" {
				trees[oid] = nil
			}
		}
	}
	err := inParts(keys(trees), func(part []string) error {
		return d.r.Objects(part, func(oid string, raw []byte) error {
			entries, err := ReadTree(oid, raw)
			byName := map[string]TreeEntry{}
			for _, e := range entries {
				if d.names[e.Name] {
					byName[e.Name] = e
				}
			}
			trees[oid] = byName
			return err
		})
	})
	return trees, err
}

// compare notes the files that differ, and returns the folders that do.
func (d *differ) compare(p pair, was, now map[string]TreeEntry) (below []pair) {
	entry := func(name string, a, b TreeEntry) {
		if a == b {
			return
		}
		at, next := path.Join(p.dir, name), pair{commit: p.commit}
		if next.dir = at; a.IsTree() {
			next.was, a = a.OID, TreeEntry{}
		}
		if b.IsTree() {
			next.now, b = b.OID, TreeEntry{}
		}
		if next.was != next.now {
			below = append(below, next)
		}
		if a != b {
			d.changed[p.commit][at] = b
		}
	}
	for name, b := range now {
		entry(name, was[name], b)
	}
	for name, a := range was {
		if _, there := now[name]; !there {
			entry(name, a, TreeEntry{})
		}
	}
	return below
}

// Named returns the ids that an object names: those of a whole repository hold all of them. Commits of other repositories
// do not count. The error is of kind damaged.
func (o Object) Named() (oids []string, err error) {
	switch o.Type {
	case typeCommit:
		c, err := ReadCommit(o.OID, o.Raw)
		return append(c.Parents, c.Tree), err
	case typeTree:
		entries, err := ReadTree(o.OID, o.Raw)
		for _, e := range entries {
			if !e.isLink() {
				oids = append(oids, e.OID)
			}
		}
		return oids, err
	case typeTag:
		content, err := contentOf(o.OID, o.Raw, typeTag)
		line, _, _ := strings.Cut(string(content), "\n")
		oid, found := strings.CutPrefix(line, "object ")
		if err == nil && (!found || !isOID(oid)) {
			err = badObject(o.OID, "names no object")
		}
		return []string{oid}, err
	}
	return nil, nil
}

// Whole checks that every object that refs need is there and is what its id says. Errors: damaged; unreachable when ctx ends; those of r.
func Whole(ctx context.Context, r Reader, refs Refs) error {
	known := map[string]bool{}
	for next := refs.tips(); len(next) > 0; {
		var below []string
		err := inParts(next, func(part []string) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return r.Objects(part, func(oid string, raw []byte) error {
				kind, _, err := splitRaw(oid, raw)
				if err != nil {
					return err
				}
				named, err := Object{OID: oid, Type: kind, Raw: raw}.Named()
				for _, oid := range named {
					if !known[oid] {
						known[oid] = true
						below = append(below, oid)
					}
				}
				return err
			})
		})
		if err != nil {
			return wrap("check repository", err)
		}
		next = below
	}
	return nil
}

// Missing is the error for an object that is not there. It is of kind damaged.
func Missing(oid string) error { return missingObject(oid) }
