package foreign

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/test/must"
)

// header is the beginning of a database that another program writes to through a log.
func header(pageSize uint16, size int) []byte {
	b := make([]byte, size)
	copy(b, sqlconn.Magic)
	binary.BigEndian.PutUint16(b[16:], pageSize)
	b[18], b[19] = 2, 2
	return b
}

// A file that SQLite cannot open is copied only where a copy can help.
func TestABrokenDatabaseIsNotCopied(t *testing.T) {
	t.Parallel()
	rollback := header(4096, 8192)
	rollback[18], rollback[19] = 1, 1
	for name, file := range map[string][]byte{
		"no database":              bytes.Repeat([]byte("text "), 2000),
		"a header that is cut off": header(4096, 100)[:60],
		"less than one page":       header(4096, 4000),
		"a page size that is none": header(1000, 8192),
		"no page size":             header(0, 8192),
		"pages that are damaged":   rollback,
		"a log is not there":       header(4096, 8192),
	} {
		path := filepath.Join(t.TempDir(), "x.db")
		must.Do(t, os.WriteFile(path, file, 0o600))
		tree := must.Get(Open(path))(t)
		_, err := OpenDatabase(t.Context(), tree, tree.Files()[0])
		must.Kind(t, name, err, amber.KindDamaged)
		must.Equal(t, name+": copied to", tree.scratch, "")
		must.Do(t, tree.Close())
	}
}

// A log that is no file is not read, and a database is not read without it.
func TestALogThatNeverEndsIsNotRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	must.Do(t, os.WriteFile(path, header(4096, 8192), 0o600))
	must.Do(t, os.Symlink("/dev/zero", path+"-wal"))
	tree := opened(t, path)
	_, err := OpenDatabase(t.Context(), tree, tree.Files()[0])
	must.Kind(t, "a link", err, amber.KindDamaged, "not a regular file")
}
