// Package daemon serves a home: it opens the door (HTTP, MCP, vaults), keeps the
// agents that are used open, and runs the workers beside them: journals are
// drained, snapshots taken on a schedule and retained, notes backed up to a vault,
// events published, metrics gathered and the audit log verified.
//
// A caller gives it the home, its ledger and its configuration ([Options]), and
// what opens an agent ([Parts]).
package daemon
