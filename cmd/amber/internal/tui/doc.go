// Package tui is the terminal UI of Amber: nine screens over the contracts of a store, here
// or on a server.
//
// Each screen makes pages for a [window.Shell], which draws and steers them. Stores, snapshots, editors and processes
// are asked in commands of bubbletea only, and a frame is made of what the model holds, so frames need no terminal.
package tui
