package sqlite

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/store/home"
)

const (
	// maxPath is how long the path of a database may be: SQLite calls a longer
	// one a file that it cannot open.
	maxPath = 512
	// longest is the longest path below the folder of an agent that SQLite is
	// given: that of a generation after a million restores.
	longest = "/gen/1000000/control.db-journal"
)

// CheckHome returns an error of kind invalid if the databases of an agent cannot
// be opened below a home.
func CheckHome(dir string, tenant amber.TenantID, agent amber.AgentID) error {
	return checkPath(filepath.Join(dir, "tenants", string(tenant), "agents", string(agent)))
}

// checkPath is CheckHome for the folder of an agent.
func checkPath(dir string) error {
	most := maxPath - len(longest)
	if runtime.GOOS == "windows" || len(dir) <= most {
		return nil
	}
	return amber.Errorf(amber.KindInvalid, "open store", "", "the folder of the agent has a path of %d bytes, want at most %d: SQLite opens no database with a longer one", len(dir), most).
		WithHint("choose a shorter folder with --home or AMBER_HOME")
}

// LeaveElsewhere says in the folder of a new generation that its rows are in another
// database, so that they are not looked for here.
func LeaveElsewhere(dir string) error {
	return fsx.Replace(fsx.OS(), filepath.Join(dir, sqlfile.Elsewhere), 0o600, nil)
}

// IsHere reports whether the rows of an agent are in its folder.
func IsHere(agent *home.Agent) bool {
	c, err := agent.Current()
	if err != nil {
		return false
	}
	_, err = os.Lstat(filepath.Join(agent.GenDir(c), sqlfile.MemorySchema.File))
	return err == nil
}
