package colonytest

import (
	"context"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

func fileChecks() []check {
	return []check{
		{"get/missing", getMissing},
		{"put/what-is-put-is-got", putGet},
		{"put/replaces", putReplaces},
		{"put/texts", putTexts},
		{"put/names", putNames},
		{"put/names-are-told-apart", putNamesApart},
		{"delete/removes", deleteRemoves},
		{"delete/missing", deleteMissing},
		{"status/counts", statusCounts},
		{"context/ended-before", contextEnded},
	}
}

func getMissing(w *world) {
	w.missing("none.json")
	w.missing("none/none.json")
	w.put("some.json", "x")
	w.missing("some.jso.json")
	w.missing("some.json/x.json")
}

func putGet(w *world) {
	w.put("a.json", `{"a": 1}`)
	w.put("b.json", "text")
	w.holds("a.json", `{"a": 1}`)
	w.holds("b.json", "text")
}

func putReplaces(w *world) {
	for _, content := range []string{"one", "longer than one", "", "two", "two"} {
		w.put("a.json", content)
		w.holds("a.json", content)
	}
	equal(w.list(""), []string{"a.json"}, "list")
}

// putTexts has texts that a careless vault would change.
func putTexts(w *world) {
	for i, content := range []string{
		"", " ", "\n", "a\r\nb\r", "\t\"quoted\\\" </script>&amp;", "tail\n\n", "\x00\x01\x7f",
		"é e\u0301 \u2028\u2029\ufeff \U0001F9E0\U00010000", "\ufeffbom", "null", "{\"content\": \"x\"}",
		strings.Repeat("0123456789abcdef", 44_000), // a part
	} {
		name := fmt.Sprintf("t%d.json", i)
		w.put(name, content)
		w.holds(name, content)
	}
}

// names are those that must work, each another file.
func names() []string {
	return []string{
		"plain.json", "UPPER.json", "upper.json", "with space.json", "a+b%41&c=d?e#f.json", "a%2Fb.json",
		"dir/file.json", "dir/sub/file.json", "dir.json", "..a.json", "a..b/c.json", ".hidden.json",
		"日本語.json", "é.json", "e\u0301.json", "\U0001F9E0/x.json", "append.json", "folder/append.json",
		"cmem.default.latest.json",
		strings.Repeat("n", 250) + ".json",
		strings.Repeat("d/", 125) + ".json",
	}
}

func putNames(w *world) {
	for _, name := range names() {
		w.missing(name)
		w.put(name, "in "+name)
		w.holds(name, "in "+name)
	}
}

func putNamesApart(w *world) {
	all := names()
	for _, name := range all {
		w.put(name, name)
	}
	for _, name := range all {
		w.holds(name, name)
	}
	hold(len(w.list("")) == len(all), "%d names are listed, want %d: %q", len(w.list("")), len(all), w.list(""))
	must0(w.b.Delete(w.ctx, "dir.json"))
	w.holds("dir/file.json", "dir/file.json")
}

func deleteRemoves(w *world) {
	w.put("a.json", "a")
	w.put("ab.json", "ab")
	must0(w.b.Delete(w.ctx, "a.json"))
	w.missing("a.json")
	w.holds("ab.json", "ab")
	equal(w.list(""), []string{"ab.json"}, "list")
	w.put("a.json", "again")
	w.holds("a.json", "again")
}

func deleteMissing(w *world) {
	refused(w.b.Delete(w.ctx, "none.json"), amber.KindNotFound, "delete of what is not there")
	w.put("a.json", "a")
	must0(w.b.Delete(w.ctx, "a.json"))
	refused(w.b.Delete(w.ctx, "a.json"), amber.KindNotFound, "second delete")
}

func statusCounts(w *world) {
	s := must(w.b.Status(w.ctx))
	hold(s.UsedBytes == 0 && s.FileCount == 0, "an empty vault has status %+v", s)
	w.put("a.json", "12345")
	w.put("b.json", "é")
	w.put("a.json", "123")
	s = must(w.b.Status(w.ctx))
	hold(s.UsedBytes == 5 && s.FileCount == 2, "two files of 5 bytes have status %+v", s)
	if s.QuotaBytes > 0 {
		hold(s.AvailableBytes == s.QuotaBytes-s.UsedBytes, "status %+v does not add up", s)
	}
	must0(w.b.Delete(w.ctx, "a.json"))
	s = must(w.b.Status(w.ctx))
	hold(s.UsedBytes == 2 && s.FileCount == 1, "one file of 2 bytes has status %+v", s)
}

func contextEnded(w *world) {
	w.put("a.json", "a")
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	_, err := w.b.Put(ctx, "b.json", "b")
	refused(err, amber.KindUnreachable, "put")
	_, err = w.b.Get(ctx, "a.json")
	refused(err, amber.KindUnreachable, "get")
	_, err = w.b.List(ctx, "")
	refused(err, amber.KindUnreachable, "list")
	_, err = w.b.Status(ctx)
	refused(err, amber.KindUnreachable, "status")
	refused(w.b.Delete(ctx, "a.json"), amber.KindUnreachable, "delete")
	equal(w.list(""), []string{"a.json"}, "list")
}
