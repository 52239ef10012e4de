package formats

import (
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// Quoted writes a path as a shell reads it.
func Quoted(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// holds reports whether a file is a SQLite database with the tables of a program.
func holds(t *foreign.Tree, f foreign.File, isIts func(*foreign.Database) bool) bool {
	return f.IsDatabase() && t.AnyDatabase([]foreign.File{f}, isIts)
}
