package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// notOurs are folders whose constants are about formats of other programs, or about nothing that stays.
var notOurs = []string{"internal/share/foreign", "internal/freeze/nexo", "internal/recall/eval", "tools", "internal/archtest", "internal/test/ovfake"}

// noFormats are constants that have the name of a format and are none.
var noFormats = []string{
	"internal/freeze/bundle.nexoVersion",   // of another program
	"internal/share/colony.latestFormat",   // goes with Format of that package
	"internal/share/gitsync/chunk.version", // the number in internal/share/gitsync/chunk.Format
}

var (
	formatName  = regexp.MustCompile(`(?i)(format|version|schema)$`)
	formatValue = regexp.MustCompile(`^([a-z /-]+[ /])?[0-9]+$`)
)

// formatsOf reads the constants of the sources that say which version of a format is written, by package and name.
func formatsOf(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must.Do(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(must.Get(filepath.Rel(root, file))(t))
		if d.IsDir() {
			if slices.Contains(notOurs, rel) || slices.Contains([]string{"testdata", "bin", "dist", "node_modules"}, d.Name()) || strings.HasPrefix(d.Name(), ".") && rel != "." {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(rel, ".go") && !strings.HasSuffix(rel, "_test.go") {
			formatsOfFile(t, file, path.Dir(rel), out)
		}
		return nil
	}))
	for _, name := range noFormats {
		must.Hold(t, out[name] != "", "%s is not a constant any more", name)
		delete(out, name)
	}
	return out
}

func formatsOfFile(t *testing.T, file, pkg string, out map[string]string) {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	if !slices.ContainsFunc([]string{"ormat ", "ersion ", "chema ", "magic:"}, func(w string) bool { return bytes.Contains(text, []byte(w)) }) {
		return // as most
	}
	f := must.Get(parser.ParseFile(token.NewFileSet(), file, text, 0))(t)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return false
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) && formatName.MatchString(name.Name) {
					if v := literal(n.Values[i]); formatValue.MatchString(v) {
						out[pkg+"."+name.Name] = v
					}
				}
			}
		case *ast.CompositeLit: // the small files of a home
			var magic, version string
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					switch fmt.Sprint(kv.Key) {
					case "magic":
						magic = literal(kv.Value)
					case "version":
						version = literal(kv.Value)
					}
				}
			}
			if magic != "" && version != "" {
				out[pkg+"."+magic] = version
			}
		}
		return true
	})
}

// literal is the value of a number or a text, also of a sum whose last part is one.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return literal(e.Y)
	case *ast.BasicLit:
		if e.Kind == token.INT {
			return e.Value
		}
		s, _ := strconv.Unquote(e.Value)
		return s
	}
	return ""
}

// schemasOf counts the migrations of each schema.
func schemasOf(t *testing.T, root string) map[string]string {
	t.Helper()
	count := func(pattern string) string {
		files := must.Get(filepath.Glob(filepath.Join(root, pattern)))(t)
		must.Hold(t, len(files) > 0, "there is no %s", pattern)
		return strconv.Itoa(len(files))
	}
	return map[string]string{
		"memory.db":  count("internal/store/sqlfile/migrations/memory-*.sql"),
		"control.db": count("internal/store/sqlfile/migrations/control-*.sql"),
		"home.db":    count("internal/store/ledger/migrations/home-*.sql"),
		"PostgreSQL": count("internal/store/postgres/schema/migrations/*.sql"),
	}
}

// rowsOf reads the tables of docs/compatibility.md below a heading: the first cell and the second, without marks.
func rowsOf(t *testing.T, text, heading string, key, value int) map[string]string {
	t.Helper()
	_, part, ok := strings.Cut(text, "\n## "+heading+"\n")
	must.Hold(t, ok, "docs/compatibility.md has no heading %q", heading)
	part, _, _ = strings.Cut(part, "\n## ")
	out := map[string]string{}
	for line := range strings.Lines(part) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 4 || strings.HasPrefix(cells[1], "--") || strings.Contains(line, "| version |") {
			continue
		}
		name := strings.Trim(strings.TrimSpace(cells[key]), "`")
		must.Hold(t, out[name] == "", "docs/compatibility.md has %s twice", name)
		out[name] = strings.Trim(strings.TrimSpace(cells[value]), "`")
	}
	return out
}

// The tables of docs/compatibility.md have exactly the schemas and formats that the code knows, and the homes of
// earlier versions that are opened in tests.
func TestCompatibilityTables(t *testing.T) {
	t.Parallel()
	const root = "../.."
	text := string(must.Get(os.ReadFile(root + "/docs/compatibility.md"))(t))
	must.Equal(t, "schemas", rowsOf(t, text, "Schemas", 1, 2), schemasOf(t, root))
	must.Equal(t, "formats", rowsOf(t, text, "Formats", 4, 2), formatsOf(t, root))
	homes := map[string]string{}
	for _, file := range must.Get(filepath.Glob(root + "/cmd/amber/testdata/homes/*.tar.gz"))(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".tar.gz")
		info := must.Get(os.Stat(file))(t)
		must.Hold(t, info.Size() < 200<<10, "%s has %d bytes, want less than 200 KiB", file, info.Size())
		homes[name] = schemaOfHome(t, file)
	}
	must.Equal(t, "homes", rowsOf(t, text, "Homes that are opened in tests", 1, 2), homes)
	newest := schemasOf(t, root)["memory.db"]
	must.Hold(t, slices.Contains(slices.Collect(maps.Values(homes)), newest), "there is no home of the schema of today, %s: %v; see docs/releasing.md", newest, homes)
}

// schemaOfHome is the schema of memory.db in the archive of a home: the number at byte 60 of the file.
func schemaOfHome(t *testing.T, file string) string {
	t.Helper()
	names, _, data := untar(t, ungzip(t, must.Get(os.ReadFile(file))(t)))
	at := slices.IndexFunc(names, func(n string) bool { return path.Base(n) == "memory.db" })
	must.Hold(t, at >= 0, "%s has no memory.db", file)
	return strconv.Itoa(int(binary.BigEndian.Uint32(data[names[at]][60:])))
}
