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

// law names, for each package, the packages of the module it may import
// beside the root, the vocabulary and internal/*. A package without a rule breaks the law, so
// that the author of a new package decides what it may import. "*" means everything; "-" means
// not even the root.
var law = map[string][]string{
	".":                             {"-"}, // nouns and contracts; standard library only
	"agent":                         {"client", "colony/shelf", "config", "digest", "digest/writer", "embed", "events", "home", "hook", "journal", "journal/drain", "keyring", "ledger", "move", "notes", "repo", "search", "snapshot", "store/openviking", "store/openviking/api", "store/postgres", "store/postgres/folder", "store/postgres/mirror", "store/sqlcore", "store/sqlite", "store/statedir", "store/storetest", "target/dir", "target/location"},
	"bundle":                        {},
	"client":                        {"op"},
	"cmd/amber":                     {"*"}, // the one place that sees everything
	"cmd/amber/internal/capture":    {"agent", "cmd/amber/internal/cli", "config", "foreign/nexus", "hook", "hook/setup", "journal", "journal/drain", "op", "server/near"},
	"cmd/amber/internal/care":       {"agent", "cmd/amber/internal/capture", "cmd/amber/internal/cli", "cmd/amber/internal/share", "config", "home", "hook/setup", "ledger", "move", "server", "server/backup", "store/openviking", "store/postgres", "store/postgres/schema"},
	"cmd/amber/internal/freeze":     {"agent", "cmd/amber/internal/cli", "keyring", "sign", "target", "target/location"},
	"cmd/amber/internal/measure":    {"agent", "cmd/amber/internal/cli", "cmd/amber/internal/demo", "config", "embed", "eval", "hook", "store/openviking"},
	"cmd/amber/internal/memory":     {"agent", "cmd/amber/internal/cli"},
	"cmd/amber/internal/serve":      {"agent", "client", "cmd/amber/internal/capture", "cmd/amber/internal/care", "cmd/amber/internal/cli", "cmd/amber/internal/freeze", "cmd/amber/internal/share", "colony", "colony/documents", "config", "digest", "home", "journal", "ledger", "metrics", "op", "server", "server/backup", "server/daemon", "server/mcpapi", "snapshot", "store/postgres"},
	"cmd/amber/internal/session":    {"agent", "cmd/amber/internal/cli"},
	"cmd/amber/internal/cli":        {"agent", "client", "config", "events", "home", "keyring", "ledger", "notes"},
	"cmd/amber/internal/control":    {"agent", "cmd/amber/internal/cli"},
	"cmd/amber/internal/demo":       {"home"}, // damages an agent of its own
	"cmd/amber/internal/exchange":   {"client", "cmd/amber/internal/cli", "config", "foreign", "foreign/formats", "foreign/transfer", "gitsync"},
	"cmd/amber/internal/share":      {"cmd/amber/internal/cli", "colony", "colony/api", "colony/documents", "config", "gitsync", "gitsync/githook", "keyring", "server", "server/backup"},
	"cmd/amber/internal/tui":        {"agent", "cmd/amber/internal/cli"},
	"colony":                        {},
	"colony/api":                    {"colony"},
	"colony/colonytest":             {"colony"},
	"colony/documents":              {"colony"},
	"colony/shelf":                  {"colony", "home"},
	"config":                        {"events", "policy"},
	"digest":                        {},
	"digest/writer":                 {"digest"},
	"embed":                         {},
	"eval":                          {},
	"events":                        {},
	"foreign":                       {},
	"foreign/engram":                {},
	"foreign/chatgpt":               {"foreign"},
	"foreign/claudeai":              {"foreign"},
	"foreign/claudemem":             {"foreign"},
	"foreign/codex":                 {"foreign"},
	"foreign/cogx":                  {"foreign"},
	"foreign/gemini":                {"foreign"},
	"foreign/graphiti":              {"foreign"},
	"foreign/langgraph":             {"foreign"},
	"foreign/letta":                 {"foreign"},
	"foreign/markdown":              {"foreign"},
	"foreign/mcpmemory":             {"foreign"},
	"foreign/mcpservice":            {"foreign"},
	"foreign/mem0":                  {"foreign"},
	"foreign/memobase":              {"foreign"},
	"foreign/memos":                 {"foreign"},
	"foreign/openaiagents":          {"foreign"},
	"foreign/plain":                 {"foreign"},
	"foreign/supermemory":           {"foreign"},
	"foreign/claudecode":            {"foreign"},
	"foreign/cursor":                {"foreign"},
	"foreign/foreigntest":           {"foreign"},
	"foreign/formats":               {"foreign", "foreign/chatgpt", "foreign/claudeai", "foreign/claudecode", "foreign/claudemem", "foreign/codex", "foreign/cogx", "foreign/cursor", "foreign/engram", "foreign/gemini", "foreign/graphiti", "foreign/jsonl", "foreign/langgraph", "foreign/letta", "foreign/markdown", "foreign/mcpmemory", "foreign/mcpservice", "foreign/mem0", "foreign/memobase", "foreign/memos", "foreign/openaiagents", "foreign/plain", "foreign/supermemory"},
	"foreign/jsonl":                 {"foreign"},
	"foreign/nexo":                  {},
	"foreign/nexus":                 {"journal"},
	"foreign/transfer":              {"foreign"},
	"gitsync":                       {"digest", "foreign/engram", "gitsync/chunk", "gitsync/githook"},
	"gitsync/chunk":                 {},
	"gitsync/githook":               {},
	"home":                          {},
	"hook":                          {"journal"},
	"hook/setup":                    {},
	"internal/agekey":               {},
	"internal/analyze":              {"-"},
	"internal/archtest":             {"-"},
	"internal/audited":              {},
	"internal/authorship":           {},
	"internal/block":                {},
	"internal/envelope":             {},
	"internal/filesig":              {},
	"internal/fsx":                  {"-"},
	"internal/fsx/crashfs":          {"internal/fsx"},
	"internal/fsx/errfs":            {"internal/fsx"},
	"internal/gitobj":               {},
	"internal/gitrun":               {},
	"internal/golden":               {"internal/fsx"},
	"internal/bounds":               {},
	"internal/intake":               {"internal/redact"},
	"internal/linediff":             {"-"},
	"internal/localsock":            {},
	"internal/must":                 {},
	"internal/names":                {"-"},
	"internal/shown":                {"-"},
	"internal/notefile":             {},
	"internal/line":                 {"-"},
	"internal/pgdb":                 {},
	"internal/pattern":              {"-"},
	"internal/pgerr":                {},
	"internal/pgtest":               {},
	"internal/pointer":              {},
	"internal/proc":                 {},
	"internal/project":              {},
	"internal/promise":              {},
	"internal/redact":               {"-"},
	"internal/redact/secrettest":    {"-"},
	"internal/settings":             {"-"},
	"internal/sqlconn":              {},
	"internal/sqlpages":             {},
	"internal/strictjson":           {},
	"internal/survey":               {},
	"internal/term":                 {"-"},
	"internal/timetable":            {"-"},
	"internal/vaultrow":             {"-"},
	"internal/words":                {},
	"journal":                       {},
	"journal/drain":                 {"digest", "journal", "policy"},
	"keyring":                       {},
	"ledger":                        {"events", "store/postgres/schema"},
	"metrics":                       {"events"},
	"move":                          {"home", "notes", "snapshot", "store/postgres", "store/postgres/mirror", "store/sqlite", "store/sqlite/image", "store/sqlite/rowfile", "store/statedir"},
	"natsbus":                       {"events"},
	"notes":                         {},
	"notes/notestest":               {"notes"},
	"op":                            {"events"}, // what Amber can do; no door, no engine
	"repo":                          {},
	"policy":                        {},
	"sign":                          {},
	"search":                        {},
	"server":                        {"events", "op"},
	"server/backup":                 {"colony/api", "config", "server"},
	"server/daemon":                 {"colony/shelf", "config", "digest", "events", "home", "journal", "journal/drain", "ledger", "metrics", "natsbus", "op", "server", "server/backup", "server/httpapi", "server/mcpapi", "server/near", "server/vaultapi", "server/web", "snapshot", "store/postgres", "store/postgres/mirror", "store/sqlite", "trace"},
	"server/httpapi":                {"events", "foreign", "foreign/formats", "foreign/transfer", "op", "server"},
	"server/mcpapi":                 {"op", "policy", "server"},
	"server/near":                   {"server/httpapi"},
	"server/servertest":             {"home", "ledger", "server", "snapshot", "store/sqlite"},
	"server/vaultapi":               {"colony", "colony/shelf", "op", "server"},
	"server/web":                    {"client", "foreign", "foreign/formats", "op", "server"}, // asks the API over a handler; formats for a choice of names
	"snapshot":                      {"bundle", "events", "foreign/nexo", "home", "journal", "journal/drain", "keyring", "notes", "repo", "search", "store/sqlite", "store/sqlite/image", "target/dir"},
	"store/inmem":                   {"search"},
	"store/openviking":              {"store/openviking/api"},
	"store/openviking/api":          {},
	"store/openviking/ovfake":       {},
	"store/openviking/ovtest":       {},
	"store/internal/sqlrows":        {"home", "search"},
	"store/sqlcore":                 {"search", "store/internal/sqlrows"},
	"store/sqlite":                  {"home", "search", "store/internal/sqlrows", "store/sqlcore", "store/sqlite/image", "store/sqlite/internal/sqlfile", "store/statedir"},
	"store/sqlite/image":            {"home", "store/internal/sqlrows", "store/sqlite/internal/sqlfile"},
	"store/sqlite/internal/sqlfile": {"home", "store/internal/sqlrows"},
	"store/sqlite/rowfile":          {"home", "store/sqlite/image", "store/sqlite/internal/sqlfile"},
	"store/postgres":                {"home", "search", "store/internal/sqlrows", "store/postgres/schema", "store/sqlcore"},
	"store/postgres/folder":         {"store/postgres", "store/postgres/mirror", "store/sqlite/rowfile"},
	"store/postgres/mirror":         {"home", "store/postgres", "store/postgres/schema", "store/sqlite/rowfile"},
	"store/postgres/schema":         {},
	"store/statedir":                {"home"},
	"store/storetest":               {},
	"target":                        {},
	"wire":                          {},
	"target/dir":                    {},
	"target/location":               {"target/dir", "target/s3"},
	"target/s3":                     {},
	"target/targettest":             {},
	"tools/bench":                   {"*"}, // measures the whole, as cmd would use it
	"tools/hosttest":                {"-"}, // sees the program as a user does
	"tools/modelconv":               {"embed"},
	"tools/release":                 {"keyring"}, // makes a release; signs with a key of keyring
	"tools/sdkgen":                  {"-"},
	"trace":                         {},
}

// vocabulary are the packages that every package may import like the root: they
// hold contracts and shapes, and import nothing but the root and each other.
var vocabulary = []string{"sign", "target", "wire"}

// stdlibOnly are the packages that import nothing from other modules.
var stdlibOnly = []string{".", "home", "sign", "target", "wire"}

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
		if _, ok := law[p]; !ok {
			broken = append(broken, fmt.Sprintf("%s: the package has no rule in internal/archtest", p))
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

// judge says why a package may not import another, "" when it may.
func judge(pkg, imported string) string {
	inside := imported == Module || strings.HasPrefix(imported, Module+"/")
	if !inside {
		external := strings.Contains(strings.Split(imported, "/")[0], ".")
		if external && slices.Contains(stdlibOnly, pkg) {
			return "this package has the standard library only"
		}
		return ""
	}
	target := strings.TrimPrefix(strings.TrimPrefix(imported, Module), "/")
	if target == "" {
		target = "."
	}
	allowed := law[pkg]
	switch {
	case slices.Contains(allowed, "*"), slices.Contains(allowed, target):
		return ""
	case slices.Contains(allowed, "-"):
		return "this package imports nothing of the module"
	case target == "." || slices.Contains(vocabulary, target) || strings.HasPrefix(target, "internal/"):
		return ""
	}
	return "nobody imports sideways"
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
