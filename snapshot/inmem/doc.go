// Package inmem is a snapshotter whose agents and snapshots live in memory:
// for tests of programs that use [amber.Snapshotter], and as the model of its
// promises.
//
// An agent is a value: memories by id, notes by name, documents of state by
// key. A snapshot stores each of these three parts under the digest of its
// content, once for all snapshots of a tenant, so that reading back, verifying
// and freeing are real work here, too. Nothing survives the process.
//
// What an agent does not have here is left out of the answers: there is no
// control plane, no git history, no journal and no source, and no record has
// a stamp, so that WithControl and LocalOnly change nothing.
package inmem
