package errfs

import (
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// Trace returns base with a line for every mutating call given to emit after the call, such as
//
//	create /home/.amber-tmp-X
//	write /home/.amber-tmp-X 12
//	sync /home/.amber-tmp-X
//	rename /home/.amber-tmp-X -> /home/CURRENT
//	syncdir /home
//
// The number is the bytes written or the length truncated to. A call that failed has " (failed)" at the end.
// The random part of temporary names is written X, and separators are slashes. emit is called from the goroutine that makes
// the call, so it must be safe for concurrent use if the file system is used so.
func Trace(base fsx.FS, emit func(line string)) fsx.FS {
	return TraceRel(base, "", emit)
}

// TraceRel is [Trace] with paths relative to root, which is written "." and its parent "..".
func TraceRel(base fsx.FS, root string, emit func(line string)) fsx.FS {
	temp := regexp.MustCompile(regexp.QuoteMeta(fsx.TempPrefix) + `[0-9A-Za-z]+`)
	return watched{base: base, obs: tracer{root: root, temp: temp, emit: emit}}
}

type tracer struct {
	root string
	temp *regexp.Regexp
	emit func(line string)
}

func (t tracer) around(c *call, do func() error) error {
	err := do()
	if !c.op.mutates() {
		return err
	}
	line := string(c.op) + " " + t.path(c.name)
	switch c.op {
	case OpLink, OpRename:
		line += " -> " + t.path(c.to)
	case OpWrite, OpTruncate:
		line += fmt.Sprintf(" %d", c.n)
	}
	if err != nil {
		line += " (failed)"
	}
	t.emit(line)
	return err
}

func (t tracer) path(name string) string {
	if t.root != "" {
		if rel, err := filepath.Rel(t.root, name); err == nil {
			name = rel
		}
	}
	return t.temp.ReplaceAllString(filepath.ToSlash(name), fsx.TempPrefix+"X")
}
