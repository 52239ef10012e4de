package pgtest

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// debian is where Debian's packages put the programs of each version; only some of them are on
// PATH.
const debian = "/usr/lib/postgresql/*/bin"

// findServer returns the folder with initdb and postgres: the one that AMBER_POSTGRES_BIN names, else the newest of
// those that match the pattern, else the one that pg_config or PATH names.
func findServer(pattern string) (string, error) {
	if own := os.Getenv(envBin); own != "" {
		if !executable(filepath.Join(own, "initdb")) || !executable(filepath.Join(own, "postgres")) {
			return "", fmt.Errorf("initdb and postgres are not in %s, which %s names", own, envBin)
		}
		return own, nil
	}
	folders, err := filepath.Glob(pattern)
	if err != nil {
		return "", err
	}
	slices.SortFunc(folders, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		folders = append(folders, strings.TrimSpace(string(out)))
	}
	if initdb, err := exec.LookPath("initdb"); err == nil {
		folders = append(folders, filepath.Dir(initdb))
	}
	for _, f := range folders {
		if executable(filepath.Join(f, "initdb")) && executable(filepath.Join(f, "postgres")) {
			return f, nil
		}
	}
	return "", &Missing{
		Program: "PostgreSQL",
		Detail: "initdb and postgres are not in " + pattern + ", pg_config --bindir or PATH; install the package postgresql, " +
			"or set " + envDSN + " to the DSN of a server that tests may write to",
	}
}

// version is the number in the path of a folder of Debian's.
func version(folder string) float64 {
	n, err := strconv.ParseFloat(filepath.Base(filepath.Dir(folder)), 64)
	if err != nil {
		return 0
	}
	return n
}

// findBouncer returns the path of pgbouncer. Debian has it in a folder that is not on the PATH
// of every user.
func findBouncer(folders ...string) (string, error) {
	for _, f := range folders {
		if path := filepath.Join(f, "pgbouncer"); executable(path) {
			return path, nil
		}
	}
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path, nil
	}
	return "", &Missing{
		Program: "PgBouncer",
		Detail:  "pgbouncer is not in " + strings.Join(folders, ", ") + " or PATH; install the package pgbouncer",
	}
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
