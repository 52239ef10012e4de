package archtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/archtest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestModuleKeepsItsSize(t *testing.T) {
	for _, f := range must.Get(archtest.Size("../.."))(t) {
		t.Error(f)
	}
}

func TestSizeCountsCodeAndMethods(t *testing.T) {
	var wide, long strings.Builder
	for i := range 111 {
		fmt.Fprintf(&wide, "// m%d does nothing.\nfunc (t *T[A]) m%d() {}\n\n", i, i)
	}
	for i := range 3_000 {
		fmt.Fprintf(&long, "var v%d = `\na\n` /* and\nthis */\n\n", i)
	}
	root := tree(t, map[string]string{
		"notes/x.go":                "package notes\n\ntype T[A any] struct{}\n\n" + wide.String(),
		"notes/x_test.go":           "package notes\n\nfunc (t *T[A]) more() {}\n",
		"repo/x.go":                 "package repo\n" + long.String(),
		"cmd/amber/x.go":            "package main\n" + strings.Repeat("\n\n// a comment\nvar _ = 1\n", 900),
		"cmd/amber/internal/a/x.go": "package a\n" + strings.Repeat("var _ = 1 // more\n", 2_999),
	})
	must.Equal(t, "above their limits", must.Get(archtest.Size(root))(t), []string{
		"package cmd/amber has 901 lines of code, the limit is 900",
		"package repo has 9001 lines of code, the limit is 8400",
		"type notes.T has 111 methods, the limit is 110",
	})
}
