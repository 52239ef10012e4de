package ovtest

import (
	"fmt"
	"strings"
	"time"
)

func fileChecks() []check {
	return []check{
		{"read/missing", func(w *world) {
			w.read("notes/a.md").refused(404, "NOT_FOUND")
			w.send("GET", uri("/api/v1/content/download", mine+"notes/a.md", ""), nil).refused(404, "NOT_FOUND")
		}},
		{"read/folder", func(w *world) {
			w.mkdir("notes")
			w.read("notes").refused(400, "INVALID_ARGUMENT")
		}},
		{"stat/file", func(w *world) {
			w.put("notes/a.md", "one")
			var got struct {
				Name    string
				Size    int
				ModTime time.Time `json:"modTime"`
				IsDir   bool      `json:"isDir"`
				URI     string
			}
			w.stat("notes/a.md").into(&got)
			hold(got.Name == "a.md" && got.URI == mine+"notes/a.md" && !got.IsDir && !got.ModTime.IsZero(), "the file is %+v", got)
			same(got.Size, len(w.download("notes/a.md")), "size")
		}},
		{"stat/missing", func(w *world) { w.stat("notes/a.md").refused(404, "NOT_FOUND") }},
		{"list/order", func(w *world) {
			w.tree("b/x.md", "a.md", "c/x.md", "c.md")
			equal(w.list("", "&recursive=true"), []string{"b", "b/x.md", "c", "c/x.md", "a.md", "c.md"}, "names")
			equal(w.list("", ""), []string{"b", "c", "a.md", "c.md"}, "names of one level")
		}},
		{"list/pages", func(w *world) {
			var names []string
			for i := range 7 {
				names = append(names, fmt.Sprintf("f%d.md", i))
			}
			w.tree(names...)
			var all []string
			for from, more := 0, true; more; from += 3 {
				var page []string
				page, more = w.page("", fmt.Sprintf("&recursive=true&limit=3&offset=%d", from))
				hold(len(page) <= 3 && more == (from < 6), "page at %d has %d names and more is %v", from, len(page), more)
				all = append(all, page...)
			}
			equal(all, names, "names")
			equal(w.list("", "&limit=3&offset=30"), nil, "names beyond the end")
			w.send("GET", uri("/api/v1/fs/ls", mine+"list", "&limit=0"), nil).refused(400, "INVALID_ARGUMENT")
		}},
		{"list/goes-three-levels-down", func(w *world) {
			w.tree("1/2/3/4.md", "1/2/3.md")
			equal(w.list("", "&recursive=true"), []string{"1", "1/2", "1/2/3", "1/2/3.md"}, "names")
			equal(w.list("/1", "&recursive=true"), []string{"1/2", "1/2/3", "1/2/3/4.md", "1/2/3.md"}, "names one level below")
		}},
		{"list/entries", func(w *world) {
			w.tree("a/b.md")
			var got []struct {
				URI   string
				Size  int
				IsDir bool   `json:"isDir"`
				Path  string `json:"rel_path"`
			}
			w.send("GET", uri("/api/v1/fs/ls", mine+"list", "&recursive=true"), nil).into(&got)
			same(len(got), 2, "entries")
			hold(got[0].IsDir && got[1].Path == "a/b.md" && got[1].URI == mine+"list/a/b.md" && got[1].Size > 0, "entries are %+v", got)
		}},
		{"list/missing", func(w *world) {
			w.put("notes/a.md", "one")
			w.send("GET", uri("/api/v1/fs/ls", mine+"none", ""), nil).refused(404, "NOT_FOUND")
			w.send("GET", uri("/api/v1/fs/ls", mine+"notes/a.md", ""), nil).refused(400, "INVALID_ARGUMENT")
			w.send("GET", "/api/v1/fs/ls", nil).refused(400, "INVALID_ARGUMENT")
		}},
		{"delete/removes", func(w *world) {
			w.put("notes/a.md", "gateway")
			w.put("notes/b.md", "gateway")
			same(w.deleted("notes/a.md", ""), 1, "vectors")
			w.stat("notes/a.md").refused(404, "NOT_FOUND")
			equal(w.names("gateway", nil), []string{"notes/b.md"}, "found")
		}},
		{"delete/is-idempotent", func(w *world) {
			w.put("notes/a.md", "one")
			w.remove("notes/a.md", "").ok()
			same(w.deleted("notes/a.md", ""), 0, "vectors")
			same(w.deleted("none", "&recursive=true"), 0, "vectors")
		}},
		{"delete/folder", func(w *world) {
			w.put("notes/a.md", "gateway")
			w.put("notes/sub/b.md", "gateway")
			w.remove("notes", "").refused(400, "INVALID_ARGUMENT")
			same(w.deleted("notes", "&recursive=true"), 2, "vectors")
			w.stat("notes").refused(404, "NOT_FOUND")
			equal(w.names("gateway", nil), nil, "found")
		}},
		{"delete/bad-requests", func(w *world) {
			w.send("DELETE", "/api/v1/fs", nil).refused(400, "INVALID_ARGUMENT")
			w.send("DELETE", uri("/api/v1/fs", "http://x", ""), nil).refused(400, "INVALID_URI")
		}},
	}
}

// tree makes files in a folder of their own.
func (w *world) tree(names ...string) {
	w.mkdir("list")
	var ops []object
	for _, n := range names {
		ops = append(ops, upsert("list/"+n, "x"))
	}
	w.batch("list", true, ops...).ok()
}

// list returns what is in the folder of tree, or in one below, on one page.
func (w *world) list(below, more string) []string {
	names, _ := w.page(below, more)
	return names
}

func (w *world) page(below, more string) (names []string, hasMore bool) {
	a := w.send("GET", uri("/api/v1/fs/ls", mine+"list"+below, "&simple=true"+more), nil)
	a.into(&names)
	for i, n := range names {
		names[i] = strings.TrimPrefix(n, mine+"list/")
	}
	return names, a.HasMore
}

// deleted deletes and returns how many vectors went.
func (w *world) deleted(name, more string) int {
	var got struct {
		Count int `json:"estimated_deleted_count"`
	}
	w.remove(name, more).into(&got)
	return got.Count
}
