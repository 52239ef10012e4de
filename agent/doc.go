// Package agent opens one agent with everything it has: its store, notes, crash journal and snapshots. A task
// that spans these parts is a method of [Agent]: to erase a memory everywhere, to settle the journal, to build
// a context, to bring back what a snapshot holds, and to examine all of it.
//
// The command line, the server and programs that embed Amber use the same methods.
package agent
