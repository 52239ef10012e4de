package errfs

import (
	"os"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// Op is a kind of call.
type Op string

// The kinds of calls. Those after OpRemove change nothing, and [Trace] leaves them out.
const (
	OpCreate   Op = "create"   // OpenFile with O_CREATE
	OpWrite    Op = "write"    // Write and WriteAt
	OpTruncate Op = "truncate" // Truncate, and OpenFile with O_TRUNC but without O_CREATE
	OpSync     Op = "sync"
	OpSyncDir  Op = "syncdir"
	OpSyncAll  Op = "syncall"
	OpMkdir    Op = "mkdir"
	OpLink     Op = "link"
	OpRename   Op = "rename"
	OpRemove   Op = "remove"

	OpOpen    Op = "open" // OpenFile otherwise
	OpRead    Op = "read" // Read and ReadAt
	OpStat    Op = "stat"
	OpClose   Op = "close"
	OpLstat   Op = "lstat"
	OpReadDir Op = "readdir"
)

// mutates reports whether calls of this kind can change the file system or its durability.
func (o Op) mutates() bool {
	switch o {
	case OpOpen, OpRead, OpStat, OpClose, OpLstat, OpReadDir:
		return false
	}
	return true
}

func openOp(flag int) Op {
	switch {
	case flag&os.O_CREATE != 0:
		return OpCreate
	case flag&os.O_TRUNC != 0:
		return OpTruncate
	}
	return OpOpen
}

// call is one call on its way to the base.
type call struct {
	op   Op
	name string
	file fsx.File // the open file of the base, if the call is on one
	to   string   // the new name of a link or rename
	data []byte   // what a write writes; an observer may cut it
	n    int64    // the number of bytes written, or the length truncated to
}

// observer sees every call and decides whether to make it, by calling do. The result of the
// observer is the result of the call.
type observer interface {
	around(c *call, do func() error) error
}
