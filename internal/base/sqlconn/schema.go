package sqlconn

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// Object is a row of a database's schema.
type Object struct{ Kind, Name, Table, SQL string }

// Shape is a whole schema: every table, index, view and trigger with its text.
type Shape []Object

// SelectShape reads a schema as it lies in the file.
const SelectShape = `SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name, tbl_name, sql`

// Querier is a database or one connection of it.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// ReadShape reads the schema of a database.
func ReadShape(ctx context.Context, db Querier) (s Shape, err error) {
	rows, err := db.QueryContext(ctx, SelectShape)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		o, err := ScanObject(rows)
		if err != nil {
			return nil, err
		}
		s = append(s, o)
	}
	return s, rows.Err()
}

// ScanObject reads a row of SelectShape.
func ScanObject(r Row) (o Object, err error) {
	err = r.Scan(&o.Kind, &o.Name, &o.Table, &o.SQL)
	return o, err
}

// Differs says how another schema differs from s, "" when it does not.
func (s Shape) Differs(other Shape) string {
	for _, o := range other {
		i := slices.IndexFunc(s, func(k Object) bool { return k.Kind == o.Kind && k.Name == o.Name })
		switch {
		case i < 0:
			return fmt.Sprintf("schema has a %s %q that is not Amber's", clip.Name(o.Kind), clip.Name(o.Name))
		case s[i] != o:
			return fmt.Sprintf("schema has a %s %q that differs from Amber's", clip.Name(o.Kind), clip.Name(o.Name))
		}
	}
	for _, k := range s {
		if !slices.Contains(other, k) {
			return fmt.Sprintf("schema has no %s %q", k.Kind, k.Name)
		}
	}
	if len(s) != len(other) {
		return "schema names an object twice"
	}
	return ""
}

// Stamp writes into a file which database it is, and its version.
func Stamp(application, version int64) string {
	return fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d", application, version)
}

// SelectStamp reads both.
const SelectStamp = "SELECT a.application_id, v.user_version FROM pragma_application_id a, pragma_user_version v"

// ErrOlder is the verdict about a file that must be migrated first.
var ErrOlder = amber.Errorf(amber.KindConflict, "open database", "", "the schema of the file is older than the one of this Amber")

// Judge compares the version of a file with the newest one that is known.
// Errors: ErrOlder, too_new.
func Judge(version, newest int64, path string) error {
	switch {
	case version == newest:
		return nil
	case version < newest:
		return ErrOlder
	}
	return amber.Errorf(amber.KindTooNew, "open database", path, "the file has schema %d, this Amber knows schemas up to %d", version, newest).
		WithHint("restart this program with the newer amber that wrote the database")
}
