// Package archtest holds the import law of the module and checks it against
// the source files.
//
// It reads the files itself: a test that asked the go tool would be answered
// from the test cache.
package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Module is the module path; every package of it begins so.
const Module = "github.com/amber-memory/amber"

// wings are the parts of the house, each with the wings that its packages may import beside the root and wire. The packages
// of a wing lie below internal/, but for those that a program may import: of the wing store those below store/, and the wings
// of one package. "*" means everything.
var wings = map[string][]string{
	".":       {}, // nouns and contracts
	"wire":    {}, // shapes that travel
	"base":    {},
	"guard":   {"base"},
	"recall":  {"base", "guard"},
	"config":  {"base", "guard", "recall"},
	"op":      {"base", "guard", "recall"}, // what Amber can do; no door, no engine
	"client":  {"base", "op"},
	"capture": {"base", "guard", "recall"},
	"store":   {"base", "guard", "recall"},
	"share":   {"base", "capture", "guard", "store"},
	"freeze":  {"base", "capture", "guard", "recall", "store"},
	"agent":   {"base", "capture", "client", "config", "freeze", "guard", "op", "recall", "share", "store"},
	"serve":   {"base", "capture", "client", "config", "freeze", "guard", "op", "recall", "share", "store"},
	"cmd":     {"agent", "base", "capture", "client", "config", "freeze", "guard", "op", "recall", "serve", "share", "store"},
	"test":    {"base"},

	"archtest": {},
	"tools":    {"*"}, // a module of its own
}

// beside names, for each package, those of its own wing that it may import. A package may import the packages that it lies
// below without being named here, and the rooms of the command line what they share, cli.
var beside = map[string][]string{
	"base/agekey":     {"base/diskerr", "base/fsx"},
	"base/diskerr":    {"base/fsx"},
	"base/events":     {"base/fsx"},
	"base/gitobj":     {"base/fsx", "base/gitrun", "base/names"},
	"base/gitrun":     {"base/proc"},
	"base/pgdb":       {"base/pgerr"},
	"base/sqlpages":   {"base/sqlconn"},
	"base/strictjson": {"base/names"},
	"base/survey":     {"base/fsx", "base/names"},

	"guard/intake": {"guard/redact"},

	"recall/analyze":      {"recall/lang"},
	"recall/contextblock": {"recall/analyze"},
	"recall/packs":        {"recall/embed"},
	"recall/search":       {"recall/analyze", "recall/lang"},

	"capture/hook":          {"capture/journal"},
	"capture/hook/setup":    {"capture/settings"},
	"capture/journal/drain": {"capture/digest"},

	"store/image":                 {"store/home", "store/sqlfile", "store/sqlrows"},
	"store/ledger":                {"store/postgres/schema"},
	"store/notes":                 {"store/notefile"},
	"store/postgres":              {"store/home", "store/notefile", "store/postgres/schema", "store/sqlcore", "store/sqlrows", "store/vaultrow"},
	"store/postgres/folder":       {"store/notefile", "store/postgres/mirror", "store/rowfile"},
	"store/postgres/mirror":       {"store/home", "store/postgres/schema", "store/rowfile", "store/vaultrow"},
	"store/postgres/postgrestest": {"store/postgres/schema"},
	"store/openviking":            {"store/openviking/api"},
	"store/rowfile":               {"store/home", "store/image", "store/sqlfile"},
	"store/sqlcore":               {"store/sqlrows"},
	"store/sqlfile":               {"store/home", "store/sqlrows"},
	"store/sqlite":                {"store/home", "store/image", "store/sqlcore", "store/sqlfile", "store/sqlrows", "store/statedir"},
	"store/sqlrows":               {"store/home"},
	"store/statedir":              {"store/home"},

	"freeze/bundle":          {"freeze/envelope"},
	"freeze/filesig":         {"freeze/envelope"},
	"freeze/move":            {"freeze/snapshot"},
	"freeze/repo":            {"freeze/envelope", "freeze/target"},
	"freeze/snapshot":        {"freeze/bundle", "freeze/keyring", "freeze/nexo", "freeze/repo", "freeze/target", "freeze/target/dir"},
	"freeze/target/location": {"freeze/target/dir", "freeze/target/s3"},

	"share/foreign/formats": {"share/foreign/*"},
	"share/gitsync":         {"share/foreign/engram", "share/gitsync/chunk", "share/gitsync/githook"},

	"serve/backup":     {"serve/server"},
	"serve/daemon":     {"serve/*"},
	"serve/httpapi":    {"serve/server"},
	"serve/mcpapi":     {"serve/mcpapi/compat", "serve/server"},
	"serve/hooksocket": {"serve/httpapi", "serve/localsock"},
	"serve/servertest": {"serve/server"},
	"serve/vaultapi":   {"serve/server"},
	"serve/web":        {"serve/server"}, // asks the API over a handler

	"cmd/amber":                  {"cmd/*"}, // wires the rooms
	"cmd/amber/internal/care":    {"cmd/amber/internal/capture", "cmd/amber/internal/share"},
	"cmd/amber/internal/measure": {"cmd/amber/internal/demo"},
	"cmd/amber/internal/tui":     {"cmd/amber/internal/window"},
	"cmd/amber/internal/serve":   {"cmd/amber/internal/capture", "cmd/amber/internal/care", "cmd/amber/internal/freeze", "cmd/amber/internal/share"},

	"wire": {"wire/sign"},
}

// cli is what the rooms of the command line share.
const cli = "cmd/amber/internal/cli"

// leaves are the packages that import nothing of the module, not even the root, but base/clip.
var leaves = []string{
	".", "archtest", "base/clip", "base/fsx", "base/fifo", "base/linediff", "base/names", "base/pattern", "base/term", "base/timetable", "capture/settings",
	"guard/redact", "guard/redact/secrettest", "guard/shown", "recall/lang", "store/vaultrow", "tools/hosttest", "tools/sdkgen",
}

// stdlibOnly are the packages that import nothing from other modules.
var stdlibOnly = []string{".", "freeze/target", "store/home", "wire", "wire/sign"}

// Import is one import of one file.
type Import struct {
	File string // slash-separated, relative to the module
	Path string // as imported
}

// Check reads every Go file below root that is not a test and returns what
// breaks the law, one line each, sorted.
func Check(root string) ([]string, error) {
	imports, packages, err := read(root)
	if err != nil {
		return nil, err
	}
	var broken []string
	for _, p := range packages {
		if _, ok := wings[wing(short(p))]; !ok {
			broken = append(broken, fmt.Sprintf("%s: the package lies in no wing of internal/archtest", p))
		}
	}
	for _, i := range imports {
		if why := judge(path.Dir(i.File), i.Path); why != "" {
			broken = append(broken, fmt.Sprintf("%s imports %s: %s", i.File, i.Path, why))
		}
	}
	slices.Sort(broken)
	return broken, nil
}

// short is the name of a package without internal/, which says where it lies and not what it is.
func short(pkg string) string { return strings.TrimPrefix(pkg, "internal/") }

// wing returns the wing of a package.
func wing(pkg string) string {
	top, _, _ := strings.Cut(pkg, "/")
	return top
}

// judge says why a package may not import another, "" when it may.
func judge(pkg, imported string) string {
	pkg = short(pkg)
	inside := imported == Module || strings.HasPrefix(imported, Module+"/")
	if !inside {
		external := strings.Contains(strings.Split(imported, "/")[0], ".")
		if external && slices.Contains(stdlibOnly, pkg) {
			return "this package has the standard library only"
		}
		return ""
	}
	target := "."
	if imported != Module {
		target = short(strings.TrimPrefix(imported, Module+"/"))
	}
	from, to := wing(pkg), wing(target)
	named := func(allowed string) bool {
		dir, all := strings.CutSuffix(allowed, "*")
		return allowed == target || all && strings.HasPrefix(target, dir)
	}
	switch {
	case slices.Contains(leaves, pkg) && (target != "base/clip" || pkg == "."):
		return "this package imports nothing of the module"
	case to == "." || to == "wire" && from != to:
		return ""
	case to == "test" && strings.HasSuffix(path.Base(pkg), "test"): // a suite or a double
		return ""
	case from == to:
		if strings.HasPrefix(pkg, target+"/") || target == "base/clip" || from == "cmd" && target == cli || slices.ContainsFunc(beside[pkg], named) {
			return ""
		}
		return "the packages of a wing import sideways only what internal/archtest names"
	case slices.ContainsFunc(wings[from], func(w string) bool { return w == to || w == "*" }):
		return ""
	}
	return fmt.Sprintf("the wing %s may not import the wing %s", from, to)
}

// read returns the imports and the packages of the module.
func read(root string) (imports []Import, packages []string, err error) {
	err = sources(root, parser.ImportsOnly, func(file string, f *ast.File) error {
		if pkg := path.Dir(file); !slices.Contains(packages, pkg) {
			packages = append(packages, pkg)
		}
		for _, spec := range f.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imports = append(imports, Import{File: file, Path: p})
		}
		return nil
	})
	return imports, packages, err
}

// sources parses every Go file below root that is not a test and calls fn
// with its name, slash-separated and relative to root.
func sources(root string, mode parser.Mode, fn func(file string, f *ast.File) error) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "testdata" || name == "bin" || strings.HasPrefix(name, ".") && file != root {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, mode)
		if err != nil {
			return err
		}
		return fn(filepath.ToSlash(rel), f)
	})
}
