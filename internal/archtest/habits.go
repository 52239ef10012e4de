package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
)

// forbidden are calls that only the named packages may make.
var forbidden = []struct {
	call   string // package.Function
	except []string
	why    string
}{
	{"time.Now", []string{"cmd/amber", "cmd/amber/internal/cli", "internal/base/fsx", "tools/bench"}, "time is injected"},
	{"time.Sleep", []string{"tools/bench"}, "wait for a signal instead"},
	{"os.WriteFile", []string{"tools/bench", "tools/evalsets", "tools/hosttest", "internal/test/pgtest", "internal/store/notes/notestest"}, "durable files go through internal/base/fsx"},
	{"os.Rename", []string{"internal/base/fsx"}, "durable files go through internal/base/fsx"},
	{"os.Create", []string{"tools/bench"}, "durable files go through internal/base/fsx"},
	{"os.OpenFile", []string{"internal/base/fsx", "tools/hosttest", "internal/test/pgtest"}, "durable files go through internal/base/fsx"},
	{"context.WithValue", []string{
		"wire", "internal/freeze/target/s3", "internal/guard/audited", "internal/guard/intake", "internal/serve/httpapi",
		"internal/serve/mcpapi", "internal/serve/metrics", "internal/serve/web",
	}, "a value that a function needs is an argument of the function"},
	{"os.Exit", []string{"cmd/amber", "tools/bench", "tools/evalsets", "tools/hosttest", "tools/modelconv", "tools/release"}, "only a main ends the process"},
}

// leased are the files of the engine of snapshots that take the lock of an agent's folder: operations on agents
// in a database take a lease as well.
var leased = []string{"internal/freeze/snapshot/place.go", "internal/freeze/snapshot/place_home.go"}

// granting are the files that make permits, each right after it took a lock or a lease.
var granting = []string{"internal/freeze/snapshot/engine.go", "internal/serve/daemon/share.go"}

// asking are the files that give the leave to ask everything, each right after it found that the owner asks, and the suite of
// promises, which asks stores that it made.
var asking = []string{
	"cmd/amber/internal/cli/everything.go", "internal/serve/web/everything.go", "store/storetest/checks_ask.go", "store/storetest/part.go",
}

// bounded are the files that begin transactions on PostgreSQL, or say how long one may be silent: one of another file could keep the lock of an
// agent for as long as its program stands still.
var bounded = []string{"internal/base/pgdb/db.go", "internal/store/postgres/schema/migrate.go", "internal/store/postgres/mirror/export.go"}

// begins are the calls that begin one.
var begins = []string{"Begin", "BeginTx", "BeginFunc", "BeginTxFunc"}

// unchecked are switches that turn a check off, or let what failed one through.
// Their help says when they are right; an error that recommends one teaches
// people and agents to go round the check that just held.
var unchecked = []string{
	"--tolerant", "--no-verify", "--no-sidecar", "--no-sign", "--no-redact", "--accept-unsigned",
	"--require-signed=false", "--insecure", "--force",
}

// Habits reads every Go file below root that is not a test and returns calls
// a package must not make, packages without a package comment, functions named
// init and hints that recommend to skip a check, one line each, sorted.
func Habits(root string) ([]string, error) {
	var broken []string
	documented := map[string]bool{}
	err := sources(root, parser.ParseComments, func(file string, f *ast.File) error {
		documented[path.Dir(file)] = documented[path.Dir(file)] || f.Doc != nil
		broken = append(broken, habitsOf(file, f)...)
		return nil
	})
	for pkg, has := range documented {
		if !has {
			broken = append(broken, pkg+": the package has no package comment")
		}
	}
	slices.Sort(broken)
	return broken, err
}

func habitsOf(file string, f *ast.File) (broken []string) {
	pkg := path.Dir(file)
	unbounded := !slices.Contains(bounded, file) && slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool {
		return strings.HasPrefix(i.Path.Value, `"github.com/jackc/pgx/`) || strings.HasSuffix(i.Path.Value, `/internal/base/pgdb"`)
	})
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				broken = append(broken, file+": init functions hide effects")
			}
		case *ast.KeyValueExpr:
			if isHint(n.Key) {
				broken = append(broken, skipping(file, n.Value)...)
			}
		case *ast.AssignStmt:
			if slices.ContainsFunc(n.Lhs, isHint) {
				broken = append(broken, skipping(file, n)...)
			}
		case *ast.ValueSpec:
			if slices.ContainsFunc(n.Names, func(x *ast.Ident) bool { return isHint(x) }) {
				broken = append(broken, skipping(file, n)...)
			}
		case *ast.BasicLit:
			if unbounded && n.Kind == token.STRING && (strings.HasPrefix(n.Value[1:], "BEGIN") || strings.Contains(n.Value, "idle_in_transaction")) {
				broken = append(broken, file+" begins a transaction or says how long it may be silent: internal/base/pgdb does")
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); unbounded && slices.Contains(begins, n.Sel.Name) && !(ok && x.Name == "audited") {
				broken = append(broken, file+" calls "+n.Sel.Name+": transactions on PostgreSQL are begun by internal/base/pgdb, which bounds them")
			}
			if n.Sel.Name == "Operate" && pkg == path.Dir(leased[0]) && !slices.Contains(leased, file) {
				broken = append(broken, file+" calls Operate: an agent in a database needs a lease, too, so Engine.operate does it")
			}
			x, ok := n.X.(*ast.Ident)
			if !ok || x.Obj != nil {
				return true
			}
			call := x.Name + "." + n.Sel.Name
			if call == "permit.New" && !slices.Contains(granting, file) {
				broken = append(broken, file+" makes a permit: the code that takes a lock or a lease does")
			}
			if call == "amber.LeaveOfOwner" && !slices.Contains(asking, file) {
				broken = append(broken, file+" gives the leave to ask everything: the door that knows the owner does")
			}
			for _, rule := range forbidden {
				if rule.call == call && !slices.Contains(rule.except, pkg) {
					broken = append(broken, fmt.Sprintf("%s uses %s: %s", file, call, rule.why))
				}
			}
		}
		return true
	})
	return broken
}

// isHint reports whether what is set is a hint, by its name.
func isHint(n ast.Expr) bool {
	name := ""
	switch n := n.(type) {
	case *ast.Ident:
		name = n.Name
	case *ast.SelectorExpr:
		name = n.Sel.Name
	}
	return strings.Contains(strings.ToLower(name), "hint")
}

// skipping finds the switches in a hint that turn a check off.
func skipping(file string, hint ast.Node) (broken []string) {
	ast.Inspect(hint, func(n ast.Node) bool {
		text, ok := n.(*ast.BasicLit)
		if !ok || text.Kind != token.STRING {
			return true
		}
		for _, flag := range unchecked {
			if strings.Contains(text.Value, flag) {
				broken = append(broken, fmt.Sprintf("%s has a hint with %s: a hint does not tell people to skip a check", file, flag))
			}
		}
		return true
	})
	return broken
}
