package colonytest

import (
	"fmt"
	"slices"
)

func listChecks() []check {
	return []check{
		{"list/empty", listEmpty},
		{"list/order", listOrder},
		{"list/prefix", listPrefix},
		{"list/what-it-tells", listTells},
		{"list/all", listAll},
	}
}

func listEmpty(w *world) {
	equal(w.list(""), nil, "list of an empty vault")
	equal(w.list("cmem.x."), nil, "list with a prefix")
}

// listOrder is by the bytes of the names.
func listOrder(w *world) {
	for _, name := range []string{"b.json", "a/z.json", "a.json", "B.json", "a-b.json", "\ue000.json", "\U00010000.json", "é.json"} {
		w.put(name, "x")
	}
	got := w.list("")
	equal(got, slices.Sorted(slices.Values(got)), "list")
	hold(len(got) == 8, "%d names are listed, want 8: %q", len(got), got)
}

func listPrefix(w *world) {
	all := []string{"a%b.json", "a*b.json", "a_b.json", "axb.json", "cmem.a.1.json", "cmem.a.2.json", "cmem.ab.1.json", "cmem.b.1.json", "é+ 1.json"}
	for _, name := range all {
		w.put(name, "x")
	}
	for prefix, want := range map[string][]string{
		"":               all,
		"cmem.a.":        {"cmem.a.1.json", "cmem.a.2.json"},
		"cmem.a":         {"cmem.a.1.json", "cmem.a.2.json", "cmem.ab.1.json"},
		"a_":             {"a_b.json"},
		"a%":             {"a%b.json"},
		"a*":             {"a*b.json"},
		"cmem.a.1.json":  {"cmem.a.1.json"},
		"CMEM":           nil,
		"é+ ":            {"é+ 1.json"},
		"cmem.a.1.json/": nil,
	} {
		equal(w.list(prefix), want, fmt.Sprintf("list of %q", prefix))
	}
}

func listTells(w *world) {
	want := map[string]string{"a.json": "12345", "b.json": "", "é.json": "é"}
	for name, content := range want {
		w.put(name, content)
	}
	for _, f := range must(w.b.List(w.ctx, "")) {
		w.tells(f, f.Name, want[f.Name])
		got := must(w.b.Get(w.ctx, f.Name))
		hold(f.Version == "" || f.Version == got.Version, "the version of %s is %q in the list and %q otherwise", f.Name, f.Version, got.Version)
	}
}

// listAll has more than a page of a service that pages.
func listAll(w *world) {
	var want []string
	for i := range 120 {
		want = append(want, fmt.Sprintf("f%03d.json", i))
		w.put(want[i], "x")
	}
	equal(w.list(""), want, "list")
}
