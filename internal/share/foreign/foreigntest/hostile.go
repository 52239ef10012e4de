package foreigntest

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// HostileTable is the table of a hostile database, which is of the form of LangGraph's store.
const HostileTable = "store"

const (
	hostilePage    = 4096
	hostileColumns = "prefix TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL"
	hostileRows    = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
		INSERT INTO store SELECT 'p', 'k' || i, '{"text":"' || printf('%.*c', 200, 'x') || '"}' FROM n;`
)

// Hostile are databases that were made to take time and memory without end: by name, each with what its reading ends with, "" for
// the rows that are really there.
func Hostile(t testing.TB) map[string]HostileFile {
	t.Helper()
	plain := "PRAGMA page_size = 4096; CREATE TABLE store (" + hostileColumns + ");" + hostileRows
	out := map[string]HostileFile{}
	for name, h := range map[string]struct {
		script, want string
		edit         func(p pages)
	}{
		"as it should be":       {plain, "", func(pages) {}},
		"a branch names itself": {plain, "named twice", func(p pages) { p.setRight(2, 2) }},
		"a branch names one leaf often": {plain, "named twice", func(p pages) {
			for n := range p.count(2) {
				p.setChild(2, n, p.child(2, 0))
			}
		}},
		"ten levels of branches name one page below": {plain, "named twice", func(p pages) {
			for n := 2; n < 12; n++ { // 13 to the power of ten times the rows of a leaf
				copy(p.leaf(n), p.leaf(2))
				for i := range p.count(n) {
					p.setChild(n, i, n+1)
				}
				p.setRight(n, n+1)
			}
		}},
		"a branch names a page that is not there": {plain, "the file has", func(p pages) { p.setRight(2, 1<<31) }},
		"two tables share a leaf": {plain + "CREATE TABLE aside (x); CREATE TABLE other (" + hostileColumns + ");" + strings.Replace(hostileRows, "store", "other", 1), "", func(p pages) {
			p.setRight(2, p.right(p.rootOf(t, "other")))
		}},
		"a long value leads back to itself": {plain + "INSERT INTO store VALUES ('', '', printf('%.*c', 40000, 'y'));", "named twice", func(p pages) {
			for page := range p.each() {
				if next := binary.BigEndian.Uint32(page); int(next) < len(p)/hostilePage && strings.HasPrefix(string(page[4:]), "yyyy") && next > 0 {
					copy(page, page[:4])
					binary.BigEndian.PutUint32(page, next-1)
				}
			}
		}},
		"a value says it has two gigabytes": {plain, "does not lie within", func(p pages) {
			leaf := p.leaf(p.child(2, 0))
			copy(leaf[p.cell(p.child(2, 0), 0):], []byte{0x87, 0xff, 0xff, 0xff, 0x7f})
		}},
		"the cells of a leaf lie over each other": {plain, "has row", func(p pages) {
			n := p.child(2, 0)
			for i := range p.count(n) {
				binary.BigEndian.PutUint16(p.leaf(n)[8+2*i:], uint16(p.cell(n, 0)))
			}
		}},
		"the header says two billion pages": {plain, "the header says", func(p pages) { binary.BigEndian.PutUint32(p[28:], 1<<31) }},
		"the schema leads back to itself":   {plain + manyTables(), "named twice", func(p pages) { p.setRightAt(100, 1) }},
		"a view gives rows without end": {`CREATE VIEW store AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
			SELECT 'p' AS prefix, i AS key, '{"text":"x"}' AS value FROM n;`, "no table", func(pages) {}},
		"a column is computed": {"CREATE TABLE store (" + hostileColumns + ", big TEXT AS (hex(zeroblob(30000000))) VIRTUAL);" + computedRows, "", func(pages) {}},
		"a default value is that of every row": {"PRAGMA page_size = 4096; CREATE TABLE store (" + hostileColumns + ");" + strings.Replace(hostileRows, "200", "5000", 1) +
			"ALTER TABLE store ADD COLUMN big TEXT DEFAULT '" + strings.Repeat("z", 900_000) + "';", "times what is stored", func(pages) {}},
		"a trigger waits":      {plain + "CREATE TRIGGER t AFTER INSERT ON store BEGIN DELETE FROM store; END;", "", func(pages) {}},
		"an index disagrees":   {plain + "CREATE INDEX i ON store (prefix, key, value);", "", func(p pages) { p.setRight(p.rootOf(t, "i"), p.rootOf(t, "i")) }},
		"rows have no numbers": {"CREATE TABLE store (" + hostileColumns + ", PRIMARY KEY (prefix, key)) WITHOUT ROWID;" + hostileRows, "not a page of a table with numbered rows", func(pages) {}},
	} {
		file := filepath.Join(Database(t, "x.db", h.script), "x.db")
		p := pages(must.Get(os.ReadFile(file))(t))
		h.edit(p)
		out[name] = HostileFile{p, h.want}
	}
	return out
}

// HostileFile is one of [Hostile].
type HostileFile struct {
	File []byte
	Want string // in the error of reading it; "no table" where there is no table of the name
}

const computedRows = `INSERT INTO store (prefix, key, value) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
	SELECT 'p', 'k' || i, '{"text":"x"}' FROM n;`

// manyTables is a schema of several pages.
func manyTables() string {
	var b strings.Builder
	for n := range 100 {
		fmt.Fprintf(&b, "CREATE TABLE t%d (a%s);", n, strings.Repeat("b", 200))
	}
	return b.String()
}

// pages is a database with pages of 4096 bytes.
type pages []byte

func (p pages) leaf(n int) []byte { return p[(n-1)*hostilePage : n*hostilePage] }

func (p pages) each() func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for n := 2; n <= len(p)/hostilePage; n++ {
			if !yield(p.leaf(n)) {
				return
			}
		}
	}
}

func (p pages) count(n int) int        { return int(binary.BigEndian.Uint16(p.leaf(n)[3:])) }
func (p pages) right(n int) int        { return int(binary.BigEndian.Uint32(p.leaf(n)[8:])) }
func (p pages) setRight(n, to int)     { p.setRightAt((n-1)*hostilePage, to) }
func (p pages) setRightAt(at, to int)  { binary.BigEndian.PutUint32(p[at+8:], uint32(to)) }
func (p pages) branch(n, cell int) int { return int(binary.BigEndian.Uint16(p.leaf(n)[12+2*cell:])) }
func (p pages) cell(n, cell int) int   { return int(binary.BigEndian.Uint16(p.leaf(n)[8+2*cell:])) }
func (p pages) child(n, cell int) int {
	return int(binary.BigEndian.Uint32(p.leaf(n)[p.branch(n, cell):]))
}

func (p pages) setChild(n, cell, to int) {
	binary.BigEndian.PutUint32(p.leaf(n)[p.branch(n, cell):], uint32(to))
}

// rootOf returns the first page of a table or an index.
func (p pages) rootOf(t testing.TB, name string) (root int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.db")
	put(t, file, p)
	db := open(t, file)
	must.Do(t, db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = ?", name).Scan(&root))
	must.Do(t, db.Close())
	return root
}
