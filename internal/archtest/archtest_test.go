package archtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/archtest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestModuleKeepsTheLaw(t *testing.T) {
	broken := must.Get(archtest.Check("../.."))(t)
	for _, b := range broken {
		t.Error(b)
	}
}

func TestCheckFindsWhatBreaksTheLaw(t *testing.T) {
	for _, tc := range []struct {
		name, file, source, want string
	}{
		{"sideways", "internal/store/notes/x.go", `import _ "github.com/amber-memory/amber/store/home"`, "sideways"},
		{"up", "internal/recall/search/x.go", `import _ "github.com/amber-memory/amber/store/sqlite"`, "the wing recall may not import the wing store"},
		{"a double in the product", "internal/store/notes/x.go", `import _ "github.com/amber-memory/amber/internal/test/must"`, "the wing store may not import the wing test"},
		{"root imports internal", "x.go", `import _ "github.com/amber-memory/amber/internal/base/fsx"`, "imports nothing of the module"},
		{"root imports a module", "x.go", `import _ "golang.org/x/text"`, "standard library only"},
		{"package in no wing", "util/x.go", ``, "no wing"},
		{"backend imports backend", "store/sqlite/x.go", `import _ "github.com/amber-memory/amber/store/inmem"`, "sideways"},
		{"allowed edge", "store/sqlite/x.go", `import _ "github.com/amber-memory/amber/store/home"`, ""},
		{"what it lies below", "internal/share/foreign/letta/x.go", `import _ "github.com/amber-memory/amber/internal/share/foreign"`, ""},
		{"a suite uses the doubles", "internal/store/notes/notestest/x.go", `import _ "github.com/amber-memory/amber/internal/test/must"`, ""},
		{"the command line sees every wing", "cmd/amber/x.go", `import _ "github.com/amber-memory/amber/internal/store/notes"`, ""},
		{"tests are free", "internal/store/notes/x_test.go", `import _ "github.com/amber-memory/amber/store/home"`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			file := filepath.Join(root, filepath.FromSlash(tc.file))
			must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
			must.Do(t, os.WriteFile(file, []byte("package x\n"+tc.source+"\n"), 0o600))
			broken := must.Get(archtest.Check(root))(t)
			if tc.want == "" {
				must.Equal(t, "broken", broken, []string(nil))
				return
			}
			if len(broken) != 1 || !strings.Contains(broken[0], tc.want) {
				t.Errorf("broken = %q, want one line with %q", broken, tc.want)
			}
		})
	}
}

func TestModuleKeepsTheHabits(t *testing.T) {
	broken := must.Get(archtest.Habits("../.."))(t)
	for _, b := range broken {
		t.Error(b)
	}
}

func TestHabitsFindsWhatBreaksThem(t *testing.T) {
	root := t.TempDir()
	source := "package x\nimport (\"os\"; \"time\")\nfunc init() { os.Rename(\"a\", \"b\"); _ = time.Now() }\n" +
		"const takeHint = \"restore --tolerant\"\nvar e = struct{ Hint string }{Hint: \"with --no-verify\"}\n" +
		"func g() { context.WithValue(nil, nil, nil); permit.New(nil); amber.LeaveOfOwner() }\n" +
		"func f() { e.Hint = \"or \" + \"--force\"; e.Hint = \"amber list\"; usage := \"--tolerant reads more\"; _ = usage }\n"
	must.Do(t, os.WriteFile(filepath.Join(root, "x.go"), []byte(source), 0o600))
	engine := filepath.Join(root, "internal", "freeze", "snapshot")
	must.Do(t, os.MkdirAll(engine, 0o700))
	for _, name := range []string{"retain.go", "place.go"} {
		source := "// Package snapshot is the engine.\npackage snapshot\nfunc f() { agent.Operate(nil) }\n"
		must.Do(t, os.WriteFile(filepath.Join(engine, name), []byte(source), 0o600))
	}
	for _, file := range []string{"x/y.go", "internal/base/pgdb/db.go"} {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o700))
		source := "// Package y speaks to PostgreSQL.\npackage y\nimport \"github.com/jackc/pgx/v5\"\nfunc f(c *pgx.Conn) { c.BeginTx(nil); c.Exec(nil, `BEGIN; SELECT`); audited.Begin() }\n"
		must.Do(t, os.WriteFile(filepath.Join(root, file), []byte(source), 0o600))
	}
	got := must.Get(archtest.Habits(root))(t)
	want := []string{
		".: the package has no package comment",
		"internal/freeze/snapshot/retain.go calls Operate: an agent in a database needs a lease, too, so Engine.operate does it",
		"x.go gives the leave to ask everything: the door that knows the owner does",
		"x.go has a hint with --force: a hint does not tell people to skip a check",
		"x.go has a hint with --no-verify: a hint does not tell people to skip a check",
		"x.go has a hint with --tolerant: a hint does not tell people to skip a check",
		"x.go makes a permit: the code that takes a lock or a lease does",
		"x.go uses context.WithValue: a value that a function needs is an argument of the function",
		"x.go uses os.Rename: durable files go through internal/base/fsx",
		"x.go uses time.Now: time is injected",
		"x.go: init functions hide effects",
		"x/y.go begins a transaction or says how long it may be silent: internal/base/pgdb does",
		"x/y.go calls BeginTx: transactions on PostgreSQL are begun by internal/base/pgdb, which bounds them",
	}
	must.Equal(t, "broken", got, want)
}

// One thing is in the singular: "1 memory", and never "1 memories".
func TestCountsGoThroughWords(t *testing.T) {
	for _, b := range must.Get(archtest.Counts("../.."))(t) {
		t.Error(b)
	}
}

func TestCountsFindsWhatBreaksTheHabit(t *testing.T) {
	root := t.TempDir()
	source := "package web\nfunc f() { fmt.Sprintf(\"%d memories, %d new rows\", 1, 1); a.Warn(\"gone: %d files\"); x(\"%d files\"); " +
		"fmt.Sprintf(\"more than %d bytes, %d of %d files, page %d is\") }\n"
	must.Do(t, os.MkdirAll(filepath.Join(root, "internal", "serve", "web"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(root, "internal", "serve", "web", "x.go"), []byte(source), 0o600))
	must.Equal(t, "what breaks the habit", len(must.Get(archtest.Counts(root))(t)), 3)
}
