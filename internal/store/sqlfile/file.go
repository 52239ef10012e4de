package sqlfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// CheckFile refuses what must not be handed to SQLite: a missing file, a link, a
// pipe.
func CheckFile(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isElsewhere(path):
		return amber.Errorf(amber.KindRefused, "open database", path, "the memory of this agent lies in a PostgreSQL database, not in its folder").
			WithHint("set memory.backend to postgres")
	case errors.Is(err, fs.ErrNotExist):
		return amber.Errorf(amber.KindDamaged, "open database", path, "the file is missing although its agent exists").
			WithHint("put the file back from a backup, or restore a snapshot: amber snapshot list")
	case err != nil:
		return diskerr.Own("open database", path, err)
	case !info.Mode().IsRegular():
		return amber.Errorf(amber.KindDamaged, "open database", path, "want a regular file, found %s", info.Mode().Type())
	}
	return nil
}

// Copy copies a file to a name that no file has. The copy is not durable.
func Copy(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return fsx.BuildWith(fsx.OS(), to, 0o600, func(out fsx.File) error {
		_, err := io.Copy(out, in)
		return err
	})
}

// NetworkFS tells the file system of a folder, and whether it is one of the network, whose locks are not to be trusted.
func NetworkFS(dir string) (name string, network bool) {
	info, err := fsx.Info(dir)
	return info.Type, err == nil && info.Network
}

// Elsewhere is the file in the folder of a generation that says that its rows are not there. It
// is empty.
const Elsewhere = "elsewhere"

func isElsewhere(path string) bool {
	_, err := os.Lstat(filepath.Join(filepath.Dir(path), Elsewhere))
	return err == nil
}
