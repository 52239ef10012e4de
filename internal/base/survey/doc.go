// Package survey lists the contents of a folder and its changes since, and reads files that others may be writing.
//
// A survey never opens a file and never follows a symbolic link, so it is cheap enough to be made twice: once at
// leisure, when the files are read, and once while the writers stand still, when [Survey.Same] says which of
// the files have to be read again.
//
// A file that cannot be captured is not passed over in silence: it is in [Survey.Skipped], with the reason. Any other
// has a name that can be restored on every system Amber runs on; [names.CheckPath] is the same rule for restores.
package survey
