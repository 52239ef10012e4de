package foreign

import (
	"context"
	"slices"
)

// Bounds of the databases that are looked at.
const (
	lookedDatabases = 5 // to detect
	maxDatabases    = 1000
)

// DetectDatabases is the Detect of a format whose files have no name of their own: one of the first databases fits.
func (t *Tree) DetectDatabases(fits func(*Database) bool) Match {
	return SureIf(t.AnyDatabase(t.databases(lookedDatabases), fits))
}

// Databases returns the first thousand files of a tree that are SQLite databases: a file alone by its content, files of a
// folder by their name and their content.
func (t *Tree) Databases() []File { return t.databases(maxDatabases) }

func (t *Tree) databases(most int) []File {
	var out []File
	for _, f := range t.files {
		if len(out) == most {
			break
		}
		if (t.single || f.Is(".db", ".sqlite", ".sqlite3", ".db3")) && f.IsDatabase() {
			out = append(out, f)
		}
	}
	return out
}

// NamedDatabases returns the files of a name that are SQLite databases, in the order of [Tree.Nearest].
func (t *Tree) NamedDatabases(name string) []File {
	return slices.DeleteFunc(t.Nearest(name), func(f File) bool { return !f.IsDatabase() })
}

// AnyDatabase reports whether one of these databases fits.
func (t *Tree) AnyDatabase(files []File, fits func(*Database) bool) bool {
	for _, f := range files {
		d, err := OpenDatabase(context.Background(), t, f)
		if err != nil {
			continue
		}
		found := fits(d)
		if d.Close() == nil && found {
			return true
		}
	}
	return false
}

// EachDatabase opens databases one after the other. It calls skip with those that cannot be opened or closed. The
// error is that of fn or of ctx.
func (t *Tree) EachDatabase(ctx context.Context, files []File, skip SkipFunc, fn func(File, *Database) error) error {
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := OpenDatabase(ctx, t, f)
		if err != nil {
			skip(f.Place(""), "%v", err)
			continue
		}
		err = fn(f, d)
		if closed := d.Close(); err == nil && closed != nil {
			skip(f.Place(""), "%v", closed)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
