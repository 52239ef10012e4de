// Package sqlrows is what lies in the tables of an agent, in SQLite's files or on
// a server: a transaction with its change log, and the rows of every table, each
// with its reader and, where more than one caller writes it, its writer. The living
// stores and the code for files at rest share it.
package sqlrows
