package journal

import (
	"fmt"
	"io/fs"
	"path/filepath"
)

// Mark is another text whenever something was appended to the journal in a folder, or cleared;
// "": that cannot be told. The files are looked at and never opened.
func Mark(dir string) string {
	b := []byte{'.'}
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // a process that drains has removed the file
		}
		// A session's folder changes with its segments, and those with appends.
		if info, err := d.Info(); err == nil && !d.IsDir() {
			b = fmt.Append(b, "/", info.Size(), ".", info.ModTime().UnixNano())
		}
		return nil
	})
	if err != nil {
		return ""
	}
	return string(b)
}
