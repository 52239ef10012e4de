package ovtest

import "strings"

func findChecks() []check {
	return []check{
		{"find/order-and-scores", func(w *world) {
			w.put("notes/far.md", "yellow zebra")
			w.put("notes/near.md", "gateway port of berlin")
			w.put("notes/same.md", "Gateway, port!")
			hits := w.hits("gateway port", nil)
			same(len(hits), 3, "hits")
			same(hits[0].URI, mine+"notes/same.md", "best hit")
			hold(hits[0].Score > 0.99 && hits[1].Score < 0.99 && hits[1].Score > 0.6 && hits[2].Score < hits[1].Score && hits[2].Score > 0.2,
				"scores are %v, %v, %v", hits[0].Score, hits[1].Score, hits[2].Score)
		}},
		{"find/always-finds-the-nearest", func(w *world) {
			w.put("notes/a.md", "yellow zebra")
			equal(w.names("qwerty", nil), []string{"notes/a.md"}, "found")
			equal(w.names("qwerty", object{"score_threshold": 0.9}), nil, "found above a threshold")
		}},
		{"find/abstract-is-the-whole-text", func(w *world) {
			text := strings.TrimSpace(strings.Repeat("gateway port ", 200))
			w.put("notes/a.md", text)
			hits := w.hits("gateway", nil)
			hold(len(hits) == 1 && hits[0].Abstract == text, "hits are %+v", hits)
		}},
		{"find/limit", func(w *world) {
			w.put("notes/a.md", "gateway")
			w.put("notes/b.md", "gateway port")
			equal(w.names("gateway", object{"limit": 1}), []string{"notes/a.md"}, "found")
			w.find("gateway", object{"limit": 0}).refused(400, "INVALID_ARGUMENT")
		}},
		{"find/targets", func(w *world) {
			w.put("one/a.md", "gateway")
			w.put("two/b.md", "gateway port")
			w.put("three/c.md", "gateway port berlin")
			w.put("one-more/d.md", "gateway")
			target := func(names ...string) []string {
				var uris []string
				for _, n := range names {
					uris = append(uris, mine+n)
				}
				return w.names("gateway", object{"target_uri": uris})
			}
			equal(target("one"), []string{"one/a.md"}, "found in one folder")
			equal(target("one/"), []string{"one/a.md"}, "found in one folder with a slash")
			equal(target("three", "two"), []string{"two/b.md", "three/c.md"}, "found in two folders")
			equal(target("three/c.md"), []string{"three/c.md"}, "found in a file")
			equal(target("none"), nil, "found in a folder that is not there")
			equal(target("on"), nil, "found in a part of a name")
			equal(target("none", "two"), []string{"two/b.md"}, "found in a folder, and one that is not there")
		}},
		{"find/level-2-has-files-only", func(w *world) {
			w.mkdir("notes")
			w.put("notes/a.md", "notes")
			w.settle()
			levels := map[int]int{}
			for _, h := range w.hits("notes", object{"level": nil, "limit": 50}) {
				levels[h.Level]++
			}
			hold(levels[2] == 1 && levels[0]+levels[1] > 0, "without a level there are hits of levels %v", levels)
			equal(w.names("notes", object{"limit": 50}), []string{"notes/a.md"}, "found on level 2")
		}},
		{"find/last-tag-of-a-key", func(w *world) {
			w.put("notes/a.md", "gateway")
			w.put("notes/b.md", "gateway port")
			w.tag("notes/a.md", "k=v1", "s=x")
			w.tag("notes/b.md", "k=v2")
			equal(w.names("gateway", object{"tags": []string{"k=v1"}}), []string{"notes/a.md"}, "found by one tag")
			equal(w.names("gateway", object{"tags": []string{"k=v1", "k=v2"}}), []string{"notes/b.md"}, "found by two tags of one key")
			equal(w.names("gateway", object{"tags": []string{"k=v2", "s=x"}}), nil, "found by tags of two keys")
			w.find("gateway", object{"tags": []string{"bad"}}).refused(400, "INVALID_ARGUMENT")
		}},
		{"find/bad-tags-are-dropped", func(w *world) {
			w.put("notes/a.md", "gateway")
			equal(w.tag("notes/a.md", "bad", "ok=1", "x=y=z"), []string{"ok=1"}, "tags")
		}},
		{"find/tags-survive-a-write", func(w *world) {
			w.write(object{"uri": mine + "notes/a.md", "content": "gateway", "tags": []string{"k=v"}, "wait": true}).ok()
			w.put("notes/a.md", "gateway port")
			equal(w.names("gateway", object{"tags": []string{"k=v"}}), []string{"notes/a.md"}, "found by a tag")
		}},
		{"find/empty-query", func(w *world) {
			w.put("notes/a.md", "gateway")
			for _, q := range []string{"", "  \n"} {
				w.find(q, object{"context_type": nil}).refused(400, "INVALID_ARGUMENT")
			}
			same(len(w.hits("!!!", nil)), 1, "hits of a question without words")
		}},
		{"find/empty-query-with-a-filter", func(w *world) {
			w.put("notes/a.md", "gateway")
			hits := w.hits("", nil) // it has a context_type
			hold(len(hits) == 1 && hits[0].Score == 0, "hits are %+v", hits)
		}},
		{"find/bad-requests", func(w *world) {
			w.find("x", object{"zork": 1}).refused(400, "INVALID_ARGUMENT")
			w.find("x", object{"context_type": "zork"}).refused(400, "INVALID_ARGUMENT")
			w.find("x", object{"target_uri": []string{"http://x"}}).refused(400, "INVALID_URI")
		}},
		{"find/content", func(w *world) {
			w.put("notes/a.md", "gateway")
			a := w.find("gateway", object{"read_content": true}).ok()
			hold(strings.Contains(string(a.raw), `"content":"gateway"`), "the answer is %s", a.raw)
		}},
		{"find/newest-text", func(w *world) {
			w.put("notes/a.md", "purple")
			w.put("notes/a.md", "gateway")
			hits := w.hits("gateway", nil)
			hold(len(hits) == 1 && hits[0].Score > 0.999 && hits[0].Abstract == "gateway", "hits are %+v", hits)
		}},
	}
}

// tag replaces the tags of a file and returns those that it has then.
func (w *world) tag(name string, tags ...string) []string {
	var got struct{ Tags []string }
	w.send("POST", "/api/v1/content/set_tags", object{"uri": mine + name, "tags": tags, "mode": "replace"}).into(&got)
	return got.Tags
}
