//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/test/must"
)

// hereScripts cannot run against a server, and why.
var hereScripts = map[string]string{
	"memory_damage":      "it damages the databases under the verb, which a server holds open",
	"snapshot_encrypted": "it works on three homes, with identities of this machine",
	"snapshot_signed":    "it works on three homes, with their repositories and bundles",
}

// remoteScripts are the scripts of every family of verbs that takes --remote.
func remoteScripts(t *testing.T) (files []string) {
	for _, family := range []string{"memory", "session", "turn", "note", "state", "control", "queue", "snapshot", "exchange"} {
		found, err := filepath.Glob(filepath.Join("testdata", "script", family+"_*.txtar"))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s has no scripts: %v", family, err)
		}
		files = append(files, found...)
	}
	files = append(files, filepath.Join("testdata", "script", "remote.txtar"))
	for name := range hereScripts {
		file := filepath.Join("testdata", "script", name+".txtar")
		if !slices.Contains(files, file) {
			t.Errorf("%s is not a script", name)
		}
		files = slices.DeleteFunc(files, func(f string) bool { return f == file })
	}
	return files
}

// TestScriptsRemote runs the same scripts with AMBER_REMOTE: each against a server of its own, which needs a
// token and must end well. The lines of a script under [!remote] are about homes; "serve" begins the server
// anew with what the script has put into the environment, so that it is configured as the verb would be.
func TestScriptsRemote(t *testing.T) {
	p := scriptParams("")
	p.Files = remoteScripts(t)
	p.Condition = func(cond string) (bool, error) {
		if cond == "remote" {
			return true, nil
		}
		return scriptCondition(cond)
	}
	variables := configVariables(t)
	p.Cmds["serve"] = func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) > 0 {
			ts.Fatalf("usage: serve")
		}
		s := ts.Value(serverKey{}).(*scriptServer)
		ts.Check(s.stop())
		environ := slices.Clone(s.environ)
		for _, name := range variables {
			environ = append(environ, name+"="+ts.Getenv(name))
		}
		url, err := s.start(environ)
		ts.Check(err)
		ts.Setenv(cli.RemoteVariable, url)
	}
	p.Setup = func(env *testscript.Env) error {
		if err := setupUser(env); err != nil {
			return err
		}
		return setupServer(t, env)
	}
	testscript.Run(t, p)
}

// configVariables are the settings that scripts make.
func configVariables(t *testing.T) []string {
	files := must.Get(filepath.Glob(filepath.Join("testdata", "script", "*.txtar")))(t)
	var names []string
	for _, file := range files {
		b := must.Get(os.ReadFile(file))(t)
		names = append(names, regexp.MustCompile(`AMBER_[A-Z0-9_]+__[A-Z0-9_]+`).FindAllString(string(b), -1)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// setupServer makes a token for the verbs and one that decides approvals, starts a server and leads every verb to it.
func setupServer(t *testing.T, env *testscript.Env) error {
	file := filepath.Join(env.WorkDir, "user", "token")
	decider := filepath.Join(env.WorkDir, "user", "decider")
	s := &scriptServer{environ: slices.Clone(env.Vars), dir: env.WorkDir}
	for _, args := range [][]string{
		{"script", "--all-tenants", "--scope", "admin", "--secret-file", file},
		{"decider", "--all-tenants", "--scope", "read,approve", "--secret-file", decider},
	} {
		if r := runIn(t.Context(), t, testWorld(s.dir, s.environ...), append([]string{"token", "create"}, args...)...); r.code != 0 {
			return fmt.Errorf("make token: exit %d: %s", r.code, r.stderr)
		}
	}
	url, err := s.start(s.environ)
	if err != nil {
		return err
	}
	env.Defer(func() {
		if err := s.stop(); err != nil {
			t.Errorf("%s: %v", filepath.Base(env.WorkDir), err)
		}
	})
	env.Values[serverKey{}] = s
	env.Setenv(cli.RemoteVariable, url)
	env.Setenv(cli.TokenFileVariable, file)
	env.Setenv("DECIDER", decider)
	return nil
}

// serverKey is where a script keeps its server.
type serverKey struct{}

// scriptServer serves the home of a script, in the process of the test.
type scriptServer struct {
	environ []string // the script's, as it began
	dir     string
	end     func() int // and returns the exit code; nil: it does not serve
	log     logBuffer
}

// start starts it and returns its URL.
func (s *scriptServer) start(environ []string) (url string, err error) {
	s.log = logBuffer{}
	w := testWorld(s.dir, environ...)
	w.Stderr = &s.log
	url, s.end, err = serveIn(context.Background(), w, "--listen", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("it does not listen: %w\n%s", err, s.log.String())
	}
	return url, nil
}

// stop ends it as a supervisor does. It must exit with 0.
func (s *scriptServer) stop() error {
	if s.end == nil {
		return nil
	}
	code := s.end()
	s.end = nil
	if code != 0 {
		return fmt.Errorf("the server exits with %d:\n%s", code, s.log.String())
	}
	return nil
}
