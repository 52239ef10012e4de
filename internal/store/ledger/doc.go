// Package ledger is the database of a home that no restore touches: tokens, the
// audit log, answers to repeated requests, and events on their way out.
//
// [Open] opens one SQLite file, home.db, that several processes use at once. Every
// write is one transaction that begins with the write lock and is synced before
// it is acknowledged. The file comes into being whole, with its schema, under
// its name; after that a file that is missing, empty or not ours is damage and
// is left as it is: a database without tokens would let every caller in.
//
// [OpenPostgres] opens the same tables in a PostgreSQL database that any number of servers share. A writer locks the
// row of what it writes; that row does there what the write lock does here. The rest is one logic with one set of statements.
//
// The life of one audit entry:
//
//	join      [DB.Record] puts it in line; the first in line leads
//	lead      the leader takes the waiters in line, at most 256
//	chain     in one transaction it reads the last entry, numbers the new ones and hashes each with the one before
//	commit    the write-ahead log is synced: here all of them are durable
//	wake      every waiter learns the outcome; the next in line leads
//	head      now and then the end of the chain is noted in a file outside of the database
//
// On PostgreSQL the end is a row that is written with the entries. An entry can also be written in the transaction of the
// change that it records, with [Enter]; [DB.Seal] chains it a moment later.
//
// [DB.VerifyAudit] recomputes the chain and compares it with what is known of its end. The
// bytes are described in docs/format/audit.md.
package ledger
