package markdown

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// entry is what is known of a file before its text is read.
type entry struct {
	file             foreign.File
	title, permalink string
	key              foreign.Key
}

// index finds the file that a link names.
type index struct {
	entries []entry
	by      [4]map[string]int // permalink, title, stem, path without extension; folded
	exact   map[string]int    // by name
}

// makeIndex looks at the head of every file.
func makeIndex(ctx context.Context, files []foreign.File) (*index, error) {
	x := &index{exact: map[string]int{}}
	for i := range x.by {
		x.by[i] = map[string]int{}
	}
	used := map[string]bool{}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		front, _, _ := foreign.SplitFront(f.Head(72 << 10))
		e := entry{file: f, title: titleOf(front, f), permalink: strings.TrimSpace(front.Text("permalink"))}
		e.key = e.freeKey(used)
		x.entries = append(x.entries, e)
	}
	// Where a link could mean two files, it means the one nearer to the root.
	order := make([]int, len(x.entries))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(strings.Count(x.entries[a].file.Name, "/"), strings.Count(x.entries[b].file.Name, "/"))
	})
	for _, i := range order {
		x.add(i)
	}
	return x, nil
}

// freeKey returns the key of a file: its permalink, or its path where that is taken or absent.
func (e entry) freeKey(used map[string]bool) foreign.Key {
	stem := withoutExt(e.file.Name)
	for _, name := range []string{e.permalink, stem} {
		if name != "" && !used[name] {
			used[name] = true
			return foreign.Key{name}
		}
	}
	return foreign.Key{"file", e.file.Name}
}

func withoutExt(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

func titleOf(front foreign.Front, f foreign.File) string {
	if list, ok := front["title"].([]any); ok && len(list) > 0 {
		return strings.Join(front.Texts("title"), ", ")
	}
	return cmp.Or(strings.TrimSpace(front.Text("title")), f.Stem())
}

func (x *index) add(i int) {
	e := x.entries[i]
	x.exact[e.file.Name] = i
	for n, name := range []string{e.permalink, e.title, e.file.Stem(), withoutExt(e.file.Name)} {
		if _, taken := x.by[n][fold(name)]; !taken && name != "" {
			x.by[n][fold(name)] = i
		}
	}
}

// find returns the file that a link of another one names.
func (x *index) find(target, source string) (entry, bool) {
	target, _, _ = strings.Cut(target, "|")
	target = strings.TrimSpace(target)
	if isPath(target) {
		return x.findPath(target, source)
	}
	for _, name := range []string{target, beforeHeading(target)} {
		for _, by := range x.by {
			if i, ok := by[fold(name)]; ok && name != "" {
				return x.entries[i], true
			}
		}
		if i, ok := x.exact[name]; ok {
			return x.entries[i], true
		}
	}
	return entry{}, false
}

func beforeHeading(target string) string {
	target, _, _ = strings.Cut(target, "#")
	return strings.TrimSpace(target)
}

// findPath finds a file by where it lies.
func (x *index) findPath(target, source string) (entry, bool) {
	target = beforeHeading(target)
	if !strings.HasPrefix(target, "/") {
		target = path.Join(path.Dir(source), target)
	}
	target = strings.TrimPrefix(path.Clean(target), "/")
	for _, name := range []string{target, target + ".md", target + ".markdown"} {
		if i, ok := x.exact[name]; ok {
			return x.entries[i], true
		}
	}
	return entry{}, false
}
