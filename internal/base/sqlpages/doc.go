// Package sqlpages reads the pages of SQLite files that are not trusted, without SQLite.
//
// An [Image] walks the references between the pages of a table before SQLite reads the table, and shows SQLite no page that
// no walk has met. So a page that two others name, or one that leads back to itself, never becomes rows without end.
// [ApplyLog] puts into a copy of a database what its write-ahead log has committed, so that SQLite plays back no journal.
//
// See https://www.sqlite.org/fileformat.html.
package sqlpages
