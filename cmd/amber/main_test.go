package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain runs the tests, or under the name amber the program itself.
func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "amber" {
		main()
	}
	// More tests at a time than processors, unless -test.parallel says how many: most of them wait for
	// other processes, and for what comes after a while.
	orPanic(flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))))
	// The drain behind hooks ends at once when nothing comes, unless a test is about its staying.
	orPanic(os.Setenv("AMBER_CONTEXT__STAY", "0"))
	debug.SetGCPercent(400) // most of what a test makes is gone with the test
	os.Exit(withProgram(m.Run))
}

// withProgram runs the tests with this program in the path.
func withProgram(run func() int) int {
	dir, err := os.MkdirTemp("", "amber-test")
	orPanic(err)
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	orPanic(err)
	path := filepath.Join(dir, "amber")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if os.Link(self, path) != nil { // the folder may be on another disk
		b, err := os.ReadFile(self)
		orPanic(errors.Join(err, os.WriteFile(path, b, 0o700)))
	}
	orPanic(os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")))
	return run()
}

func orPanic(err error) {
	if err != nil {
		panic(err)
	}
}

// TestScripts runs testdata/script. Every script has a user of its own: home,
// configuration and data lie inside $WORK, and the working directory is in no
// git repository unless the script makes one.
func TestScripts(t *testing.T) { testscript.Run(t, scriptParams("testdata/script")) }

func scriptParams(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup:               setupUser,
		Condition:           scriptCondition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"amber":   scriptAmber,
			"exits":   scriptExits,
			"capture": scriptCapture,
			"json":    scriptJSON,
			"jsonenv": scriptJSONEnv,
			"shortid": scriptShortID,
			"nowords": scriptNoWords,
			"sqlite":  scriptSQLite,
			"bytes":   scriptBytes,
			"damage":  scriptDamage,

			"identity": scriptIdentity,
			"unbundle": scriptUnbundle,
			"replace":  scriptReplace,
			"unsign":   scriptUnsign,
			"copytree": scriptCopyTree,

			"team":    scriptTeam,
			"as":      scriptAs,
			"flip":    scriptFlip,
			"unchunk": scriptUnchunk,

			"vault": scriptVault,
			"plant": scriptPlant,
		},
	}
}

func setupUser(env *testscript.Env) error {
	in := func(name string) string { return filepath.Join(env.WorkDir, name) }
	for name, dir := range map[string]string{
		"HOME": "user", "XDG_CONFIG_HOME": "user/.config", "XDG_DATA_HOME": "user/.local/share",
		"XDG_STATE_HOME": "user/.local/state", "XDG_CACHE_HOME": "user/.cache", "AMBER_HOME": "home",
	} {
		env.Setenv(name, in(dir))
	}
	// Scripts count hits, so they search by words unless they say otherwise: by meaning
	// everything is a hit, more or less likely.
	env.Setenv("AMBER_SEARCH__MODEL", "none")
	env.Setenv("AMBER_CONTEXT__STAY", "0")
	// Where agent folders are, as scripts look into them.
	env.Setenv("AGENT", in("home/tenants/default/agents/default"))
	// Bundles and folders that other systems made.
	nexo, err := filepath.Abs("../../internal/freeze/bundle/testdata/nexo")
	if err != nil {
		return err
	}
	env.Setenv("NEXO", nexo)
	engram, err := filepath.Abs("../../internal/share/foreign/engram/testdata")
	if err != nil {
		return err
	}
	env.Setenv("ENGRAM", engram)
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	env.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	return os.MkdirAll(in("user"), 0o700)
}

// scriptCondition knows [root], the user whom no mode keeps from writing, and [remote]: verbs work on a served
// home.
func scriptCondition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Geteuid() == 0, nil
	case "remote":
		return false, nil
	}
	return false, fmt.Errorf("the condition %q is not known", cond)
}

// scriptExits is "exits CODE amber [ARG...]" or "exits CODE exec PROGRAM [ARG...]": the program must exit with
// exactly that code.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[1] != "amber" && (args[1] != "exec" || len(args) < 3) {
		ts.Fatalf("usage: exits CODE amber [ARG...] or exits CODE exec PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := exitCode(ts, args[1:]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func exitCode(ts *testscript.TestScript, args []string) int {
	if args[0] == "amber" {
		return runScripted(ts, args[1:])
	}
	err := ts.Exec(args[1], args[2:]...)
	if err == nil {
		return 0
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		ts.Fatalf("run %s: %v", args[1], err)
	}
	return exit.ExitCode()
}

// scriptCapture is "capture VAR": it keeps what was printed last.
func scriptCapture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: capture VAR")
	}
	ts.Setenv(args[0], strings.TrimSuffix(ts.ReadFile("stdout"), "\n"))
}

// scriptJSON is "json PATH WANT" or "json PATH": stdout is exactly one JSON
// document in which the value at PATH is WANT, or is there at all. A PATH is
// keys and indexes joined by dots; "len" is the length of a list.
func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 && len(args) != 2 {
		ts.Fatalf("usage: [!] json PATH [WANT]")
	}
	got, found := lookUp(ts, args[0])
	ok := found && (len(args) == 1 || got == args[1])
	if ok == neg {
		ts.Fatalf("%s is %q (present: %v)", args[0], got, found)
	}
}

// scriptJSONEnv is "jsonenv VAR PATH": it keeps a value of the JSON document
// that was printed last.
func scriptJSONEnv(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: jsonenv VAR PATH")
	}
	value, found := lookUp(ts, args[1])
	if !found {
		ts.Fatalf("there is no %s", args[1])
	}
	ts.Setenv(args[0], value)
}

// scriptShortID is "shortid VAR ID N": it keeps the last N digits of an id.
func scriptShortID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: shortid VAR ID N")
	}
	digits := strings.ReplaceAll(args[1], "-", "")
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	ts.Setenv(args[0], digits[len(digits)-n:])
}

func lookUp(ts *testscript.TestScript, path string) (string, bool) {
	d := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	d.UseNumber()
	var v any
	ts.Check(d.Decode(&v))
	if _, err := d.Token(); err != io.EOF {
		ts.Fatalf("stdout holds more than one JSON document")
	}
	for key := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[key]
			if !ok {
				return "", false
			}
			v = next
		case []any:
			if key == "len" {
				v = len(in)
				continue
			}
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(in) {
				return "", false
			}
			v = in[i]
		default:
			return "", false
		}
	}
	switch k := reflect.ValueOf(v).Kind(); k {
	case reflect.Map, reflect.Slice:
		b, err := json.Marshal(v)
		ts.Check(err)
		return string(b), true
	}
	return fmt.Sprint(v), true
}

// scriptNoWords is "nowords DIR WORD...": no file below DIR holds the bytes
// of any of the words, in either case. With "!" every one of them is there.
func scriptNoWords(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] nowords DIR WORD...")
	}
	for _, word := range args[1:] {
		files := filesWith(ts, ts.MkAbs(args[0]), word)
		if neg && len(files) == 0 {
			ts.Fatalf("%q is in no file", word)
		}
		if !neg && len(files) > 0 {
			ts.Fatalf("%q is in %s", word, strings.Join(files, ", "))
		}
	}
}

func filesWith(ts *testscript.TestScript, dir, word string) (files []string) {
	seen := 0
	ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(b), []byte(strings.ToLower(word))) {
			files = append(files, path)
		}
		seen++
		return err
	}))
	if seen == 0 {
		ts.Fatalf("there is no file below %s", dir)
	}
	return files
}

// scriptSQLite is "sqlite FILE STATEMENT": it changes a database behind
// Amber's back.
func scriptSQLite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sqlite FILE STATEMENT")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.Exec(args[1])
	ts.Check(errors.Join(err, db.Close()))
}

// scriptBytes is "bytes FILE TEXT [TIMES]": it writes a file of any bytes;
// TEXT is the inside of a Go string literal.
func scriptBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 && len(args) != 3 {
		ts.Fatalf("usage: bytes FILE TEXT [TIMES]")
	}
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	times := 1
	if len(args) == 3 {
		times, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte(text), times), 0o600))
}
