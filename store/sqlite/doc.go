// Package sqlite keeps an agent's memory in two SQLite files, memory.db and
// control.db, inside the live generation of its folder.
//
// memory.db holds every memory layer, so that one read transaction sees all
// of it; control.db holds the control plane, so that the two can be captured
// and restored apart.
//
// Every write passes [home.Agent.Write], so it never meets a fence or a
// restore, and it is durable when the call returns: write-ahead log,
// synchronous FULL. The entry in the change log is part of the same
// transaction. Reads run beside writes on their own connections.
//
// Package sqlcore has the meaning of the contracts; this package makes it durable in
// files. README.md describes the life of one memory.
package sqlite
