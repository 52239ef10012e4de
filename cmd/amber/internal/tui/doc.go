// Package tui is the terminal UI of Amber: nine screens over the contracts of a store, here
// or on a server.
//
// The model is pure: stores, snapshots, editors and processes are asked in commands of
// bubbletea only, and a frame is made of what the model holds. So frames need no terminal.
// Text of a store is written by agents and strangers; [clean] makes it harmless before it
// is drawn.
package tui
