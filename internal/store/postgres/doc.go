// Package postgres keeps agents in a PostgreSQL database: the contracts of package
// sqlcore on rows of a server, for any number of programs that share nothing else.
//
// A writer stands in the line of its process, locks the head of the agent's log, does the work of those behind it, and
// commits once for all of them. A writer of another process that waits for the same head comes next. The head says
// whether the generation is live, so a writer that waited for a restore sees it.
//
// Servers are known to each other by rows they renew, see [Server.Join], and share work that one of them does at a time by leases,
// see [Leases]. Both go by the clock of the database.
package postgres
