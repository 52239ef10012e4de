package errfs

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// Rule chooses calls and what goes wrong with them. The zero value of each field but Err matches everything.
type Rule struct {
	// Op is the kind of call; empty matches every kind, reads included.
	Op Op

	// Glob is a [filepath.Match] pattern for the base name of the file; a link or a rename matches with
	// either of its names. Empty matches every name.
	Glob string

	// Nth is the number of the matching call that fails, counted from 1; 0 fails all of them.
	Nth int

	// Err is returned, wrapped in an [fs.PathError], in place of making the call. Only a close is still made.
	Err error

	// Written is how many bytes of a failing write reach the base before Err, as when the disk fills up.
	Written int
}

// FS is a file system that fails by rules. It is safe for concurrent use.
//
// A failed sync does not reach the base, and the file is spoiled: as on Linux, whose kernel drops the dirty
// pages then, later syncs of it return nil without reaching the base either. A failed SyncAll spoils everything that
// lies below its directory then.
type FS struct {
	watched
	in *injector
}

var _ fsx.FS = (*FS)(nil)

// Wrap returns base with errors injected by the rules. A call that several rules match counts for each
// of them, and fails with the first that is due. Wrap panics when a Glob is malformed.
func Wrap(base fsx.FS, rules ...Rule) *FS {
	for _, r := range rules {
		if _, err := filepath.Match(r.Glob, ""); err != nil {
			panic(fmt.Sprintf("errfs: glob %q: %v", r.Glob, err))
		}
	}
	in := &injector{
		rules:   rules,
		seen:    make([]int, len(rules)),
		spoiled: map[string]bool{},
		lost:    map[fsx.File]bool{},
	}
	return &FS{watched: watched{base: base, obs: in}, in: in}
}

// Injected returns the kinds of the calls that failed by a rule, in order. The caller owns the slice.
func (f *FS) Injected() []Op {
	f.in.mu.Lock()
	defer f.in.mu.Unlock()
	return append([]Op(nil), f.in.fired...)
}

type injector struct {
	rules []Rule

	mu      sync.Mutex
	seen    []int // matching calls per rule
	fired   []Op
	spoiled map[string]bool   // by path
	lost    map[fsx.File]bool // spoiled too, for files renamed while open
	trees   []string          // below which everything is spoiled
}

func (in *injector) around(c *call, do func() error) error {
	if r := in.due(c); r != nil {
		in.misfire(c, r, do)
		return &fs.PathError{Op: string(c.op), Path: c.name, Err: r.Err}
	}
	if (c.op == OpSync || c.op == OpSyncAll) && in.isSpoiled(c) {
		return nil
	}
	err := do()
	if err == nil {
		in.follow(c)
	}
	return err
}

// due counts the call and returns the rule that makes it fail, or nil.
func (in *injector) due(c *call) *Rule {
	in.mu.Lock()
	defer in.mu.Unlock()
	var due *Rule
	for i := range in.rules {
		r := &in.rules[i]
		if !r.matches(c) {
			continue
		}
		in.seen[i]++
		if due == nil && (r.Nth == 0 || r.Nth == in.seen[i]) {
			due = r
		}
	}
	if due != nil {
		in.fired = append(in.fired, c.op)
	}
	return due
}

func (r *Rule) matches(c *call) bool {
	if r.Op != "" && r.Op != c.op {
		return false
	}
	if r.Glob == "" {
		return true
	}
	for _, name := range []string{c.name, c.to} {
		// Wrap has checked the pattern.
		if ok, _ := filepath.Match(r.Glob, filepath.Base(name)); ok && name != "" {
			return true
		}
	}
	return false
}

// misfire does what a failing call does nevertheless. Errors of the base give way to the injected one.
func (in *injector) misfire(c *call, r *Rule, do func() error) {
	switch c.op {
	case OpClose:
		_ = do()
	case OpWrite:
		if c.data = c.data[:min(r.Written, len(c.data))]; len(c.data) > 0 {
			_ = do()
		}
	case OpSync:
		in.mu.Lock()
		defer in.mu.Unlock()
		in.spoiled[filepath.Clean(c.name)] = true
		in.lost[c.file] = true
	case OpSyncAll:
		in.mu.Lock()
		defer in.mu.Unlock()
		in.trees = append(in.trees, filepath.Clean(c.name))
	}
}

func (in *injector) isSpoiled(c *call) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	name := filepath.Clean(c.name)
	for _, dir := range in.trees {
		if name == dir || strings.HasPrefix(name, dir+string(filepath.Separator)) {
			return true
		}
	}
	return in.spoiled[name] || in.lost[c.file]
}

// follow lets the mark of a spoiled file go with its name.
func (in *injector) follow(c *call) {
	in.mu.Lock()
	defer in.mu.Unlock()
	name, to := filepath.Clean(c.name), filepath.Clean(c.to)
	switch c.op {
	case OpLink:
		in.spoiled[to] = in.spoiled[name]
	case OpRename:
		in.spoiled[to] = in.spoiled[name]
		delete(in.spoiled, name)
	case OpRemove:
		delete(in.spoiled, name)
	}
}
