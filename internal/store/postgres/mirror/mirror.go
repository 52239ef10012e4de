// Package mirror carries agents between a PostgreSQL database and the two files of
// SQLite, with every row as it is: numbers, stamps, incarnations, leases, answers, the
// index.
//
// [Export] writes the rows of a live generation, all of one instant, into memory.db and control.db. [Import] puts the
// rows of such files into a new generation that no reader sees, and [Building.Switch] makes it the live one in one
// transaction. If a process is killed anywhere, the agent is the old generation or the new one, and [Sweep] removes
// what is left over.
package mirror

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/rowfile"
)

// The files, and the schema of each in a database.
const (
	memoryDB  = "memory.db"
	controlDB = "control.db"
)

var schemas = map[string]string{memoryDB: "amber", controlDB: "amber_control"}

// Agent is an agent of a database.
type Agent struct {
	Server *postgres.Server
	Tenant amber.TenantID
	ID     amber.AgentID
}

// check refuses names that no agent has.
func (a Agent) check() error {
	if _, err := amber.ParseTenantID(string(a.Tenant)); err != nil {
		return err
	}
	_, err := amber.ParseAgentID(string(a.ID))
	return err
}

// Comparison says how the rows of both sides were compared.
type Comparison string

// The comparisons.
const (
	// Rows is every row: a digest for each table over its rows in the order of the key.
	Rows Comparison = "rows"
	// Changes is every row that is new since the mark of the files, and the number of rows of each table; see [ExportOptions.Since].
	Changes Comparison = "changes"
)

// Table says what was carried of a table.
type Table struct {
	File   string // "memory.db" or "control.db"
	Name   string
	Rows   int64
	Digest string // of the rows as they were read from the source, hex; "" where not all were
	// Compared is how many rows were compared with [Changes].
	Compared int64
}

// Position is the end of a change log.
type Position struct {
	Seq   int64       `json:"seq"`
	Stamp amber.Stamp `json:"stamp"`
}

// Document is a document of runtime state, which is a file where an agent has a folder.
type Document struct {
	Name     string
	Revision string
	JSON     []byte
}

// check compares a document with its digest.
func (d Document) check(op string) error {
	if err := amber.CheckDocumentName(d.Name); err != nil {
		return err
	}
	if amber.ContentDigest(string(d.JSON)) != d.Revision {
		return amber.Errorf(amber.KindDamaged, op, d.Name, "the document does not match its digest")
	}
	return nil
}

// VaultFile is a file of the agent's vault, as it is on disk where an agent has a folder.
type VaultFile struct {
	Place string // 64 hexadecimal digits
	Bytes []byte
}

// name is the table as statements name it.
func name(file string, t rowfile.Table) string {
	return fmt.Sprintf(`%s.%q`, schemas[file], t.Name)
}

func quoted(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }

// differ says that a table has other rows on the two sides.
func differ(op, table, what string) error {
	return amber.Errorf(amber.KindInternal, op, table, "the copy of the table differs from its source: %s", what).
		WithHint("try again; if it happens twice, run amber doctor on both")
}
