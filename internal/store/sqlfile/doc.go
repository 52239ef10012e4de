// Package sqlfile is what memory.db and control.db are as files of SQLite: their
// schemas and migrations, how they are opened, what is checked and overwritten in
// them. Package sqlrows has the content of their rows.
package sqlfile
