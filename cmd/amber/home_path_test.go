//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A home whose path is longer than SQLite takes is refused with the reason, and
// nothing is made.
func TestAHomeWithALongPath(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	long := filepath.Join(s.dir, strings.Repeat(strings.Repeat("d", 99)+"/", 6), "home")
	if _, complaint, code := s.amber("", "--home", long, "remember", "x"); code != 2 || !strings.Contains(complaint, "SQLite") || !strings.Contains(complaint, "--home") || strings.Contains(complaint, "disk") {
		t.Errorf("exit %d\n%s", code, complaint)
	}
	if _, err := os.Stat(long); err == nil {
		t.Error("the home was made")
	}
	// The longest that is taken works.
	fits := s.path(strings.Repeat("d", 200), strings.Repeat("e", 443-len(s.path())-204))
	if got := len(filepath.Join(fits, "tenants", "default", "agents", "default")); got > 512-len("/gen/1000000/control.db-journal") || got < 460 {
		t.Fatalf("the path has %d bytes", got)
	}
	s.does("--home", fits, "remember", "x")
	s.does("--home", fits, "snapshot", "create")
}

// A relative path names another home in every folder, so a command says once which
// home it uses.
func TestARelativeHomeIsTold(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	s.set("AMBER_HOME", "rel")
	for _, args := range [][]string{{"remember", "x"}, {"list"}, {"doctor"}, {"snapshot", "create"}} {
		_, complaint, _ := s.amber("", args...)
		if n := strings.Count(complaint, "AMBER_HOME is relative; the home is "+s.path("rel")); n != 1 {
			t.Errorf("%v: told %d times\n%s", args, n, complaint)
		}
	}
	if _, complaint, _ := s.amber("", "--home", "rel", "list"); strings.Contains(complaint, "relative") {
		t.Error(complaint)
	}
}
