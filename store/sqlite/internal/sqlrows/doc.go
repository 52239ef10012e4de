// Package sqlrows is what lies in memory.db and control.db: their schemas and
// migrations, a transaction on one of them with its change log, and the rows of
// their tables, each with its reader and, where more than one caller writes it,
// its writer. The living store and the code for files at rest share it.
package sqlrows
