package ovfake

import (
	"path/filepath"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// disk is the workspace of a server: every file as it is, below viking. The zero
// disk keeps nothing.
type disk struct{ root string }

func (s *Server) disk() disk { return disk{s.opts.Workspace} }

const (
	dirPerm  = 0o700
	filePerm = 0o600
)

func (d disk) path(account, p string) string {
	return filepath.Join(d.root, "viking", account, filepath.FromSlash(p))
}

// write keeps a file. An error here ends the test that asked for a workspace.
func (d disk) write(account, p string, raw []byte) {
	if d.root == "" {
		return
	}
	d.mkdir(account, filepath.ToSlash(filepath.Dir(filepath.FromSlash(p))))
	check(fsx.Replace(fsx.OS(), d.path(account, p), filePerm, raw))
}

func (d disk) mkdir(account, p string) {
	if d.root != "" {
		check(fsx.MkdirAll(fsx.OS(), d.path(account, p), dirPerm))
	}
}

func (d disk) erase(account, p string) {
	if d.root != "" {
		check(fsx.RemoveAll(fsx.OS(), d.path(account, p)))
	}
}

func (d disk) drop(account string) { d.erase(account, "") }

func check(err error) {
	if err != nil {
		panic(err)
	}
}
