// Package window is what the terminal UI is drawn in and steered by: screens of pages that lie on top of each other, a
// list with the document of the row under the cursor, keys and the mouse, panels, the line that is typed into, and the
// status line.
//
// It knows no agent and asks no store: a page brings the functions that load its rows and documents, and [Ask] calls them
// in commands of bubbletea. Text of a store is written by agents and strangers; [Clean] makes it harmless before it is
// drawn.
package window
