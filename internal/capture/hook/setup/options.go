package setup

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Scope says for whom a host is set up.
type Scope string

// The scopes: every project of the user, or the project in [Options.Dir].
const (
	User    Scope = "user"
	Project Scope = "project"
)

// ParseScope checks a scope. The error is of kind invalid.
func ParseScope(s string) (Scope, error) {
	if s != string(User) && s != string(Project) {
		return "", amber.Errorf(amber.KindInvalid, "read scope", s, "a scope is user or project")
	}
	return Scope(s), nil
}

// Options say where things are. Home, Dir, StateDir and Executable are absolute
// paths and required.
type Options struct {
	Home       string // of the user
	Dir        string // of the project
	StateDir   string // where records and backups go; made when it is needed
	Executable string // the amber that hosts are to run
	// Flags go between the executable and its verb, "--home", "/x" say. Only
	// --home, --config, --tenant and --agent with their values are allowed.
	Flags []string
	// MCP also adds the MCP server `amber mcp`. Uninstalling removes it in any
	// case.
	MCP bool
	// Plugin returns the source of the plugin for OpenCode that runs a command,
	// with [PluginMark] in its first line and a line "const command = " with the
	// command as a list in JSON. It is needed for that host only.
	Plugin func(command []string) string
	// Env reads a variable by which a host moves its settings; nil: none is set.
	Env func(name string) string
	// LookPath finds a program; nil: there is none.
	LookPath func(name string) (string, error)
	FS       fsx.FS // nil: the operating system's
	GOOS     string // "": the one this runs on
}

// check fills in what may be left out, and refuses what hooks cannot be made
// of.
func (o Options) check() (Options, error) {
	if !isAmber(o.Executable) {
		return o, amber.Errorf(amber.KindInvalid, "set up", o.Executable, "the program is not named amber, so its hooks could not be recognised later").
			WithHint("install the program under the name amber and run that")
	}
	return o.look()
}

// look fills in what a caller that only reads, such as a status, may leave out.
func (o Options) look() (Options, error) {
	for name, path := range map[string]string{"home": o.Home, "project": o.Dir, "state folder": o.StateDir, "executable": o.Executable} {
		if !filepath.IsAbs(path) {
			return o, amber.Errorf(amber.KindInvalid, "set up", path, "the path of the %s is not absolute", name)
		}
	}
	if strings.ContainsAny(o.Executable+strings.Join(o.Flags, ""), "\n\r\x00") {
		return o, amber.Errorf(amber.KindInvalid, "set up", "", "a path has a line break")
	}
	if rest := skipFlags(o.Flags); len(rest) > 0 {
		return o, amber.Errorf(amber.KindInvalid, "set up", rest[0], "this flag cannot be part of a hook")
	}
	if o.Plugin == nil {
		o.Plugin = func([]string) string { return "" }
	}
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	if o.LookPath == nil {
		o.LookPath = func(string) (string, error) { return "", fs.ErrNotExist }
	}
	o.FS = cmp.Or(o.FS, fsx.OS())
	o.GOOS = cmp.Or(o.GOOS, runtime.GOOS)
	return o, nil
}

// folder returns a folder of the user that a variable may move.
func (o Options) folder(variable, usual string) string {
	if dir := o.Env(variable); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(o.Home, usual)
}

// flagNames are the flags of amber that may stand before its verb.
var flagNames = []string{"--home", "--config", "--tenant", "--agent"}

// skipFlags returns what follows the flags at the beginning of words.
func skipFlags(words []string) []string {
	for len(words) > 0 {
		name, _, joined := strings.Cut(words[0], "=")
		switch {
		case !slices.Contains(flagNames, name):
			return words
		case joined:
			words = words[1:]
		case len(words) > 1:
			words = words[2:]
		default:
			return words
		}
	}
	return nil
}
