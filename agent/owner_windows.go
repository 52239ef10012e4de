package agent

import "io/fs"

// fromRoot is false where modes say nothing.
func fromRoot(fs.FileInfo) bool { return false }
