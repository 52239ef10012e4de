// Package image works on a database file of an agent that is not in use: a
// memory.db or control.db in a snapshot, in a bundle or in a generation that is
// being built. It freezes a live file, reads its pages, examines a file that is
// not trusted, compares two, makes a restored one fit to be live, and takes
// secrets out of a copy.
package image

import "github.com/amber-memory/amber/internal/base/sqlconn"

type scanner = sqlconn.Row
