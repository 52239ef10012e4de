// Package capture names the wing that writes down what happens to an agent while it works.
//
// A host such as Claude Code runs the hook program for each event. Package hook reads the host's payload, package project decides
// which project the folder belongs to, and package journal appends the event to the crash journal, which survives a kill. Package
// journal/drain carries the journal into a store, exactly once. Package digest sums a session up when it ends. Package hook/setup
// writes the hosts' own settings, with the help of package settings.
//
// The wing reads and writes files of its own and knows no store: drain gets the contracts of the root. It may use recall, guard
// and base. Package agent, the doors of a server and the command line use it.
package capture
