// Package pgdb is how Amber talks to PostgreSQL: pools of connections that work
// behind poolers and find a new primary, statements written for SQLite and
// translated once, transactions that keep nothing in the session, and outcomes that are
// settled where the answer to COMMIT was lost.
package pgdb
