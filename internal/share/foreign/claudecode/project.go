package claudecode

import (
	"context"
	"path"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// maxHeadLines bounds how far the directory of a session is looked for.
const maxHeadLines = 200

// projectOf returns the project of a folder of memories: that of the newest transcript beside it, else what the name of
// the folder tells.
func (l *layout) projectOf(ctx context.Context, f *folder, o foreign.Options) string {
	if o.Project != "" {
		return o.Project
	}
	if f.user {
		return ""
	}
	if f.agent != "" {
		return l.here(o)
	}
	if f.beside != "" {
		if project := o.ProjectFor(l.newestDirectory(ctx, f.beside)); project != "" {
			return project
		}
	}
	around := l.tree.Around(f.path)
	if around[0] == "memory" && len(around) > 1 {
		around = around[1:]
	}
	if project := slugOf(around[0]); project != "" {
		return project
	}
	if len(around) > 1 && around[1] == "projects" {
		return around[0] // where the name is no path
	}
	return ""
}

// newestDirectory returns where the newest session beside a folder of memories ran.
func (l *layout) newestDirectory(ctx context.Context, dir string) string {
	var beside []foreign.File
	for _, f := range l.sessions {
		if path.Dir(f.Name) == dir && !isAgent(f) {
			beside = append(beside, f)
		}
	}
	slices.SortStableFunc(beside, func(a, b foreign.File) int { return b.Modified.Compare(a.Modified) })
	for _, f := range beside[:min(len(beside), 5)] {
		if cwd := directoryOf(ctx, f); cwd != "" {
			return cwd
		}
	}
	return ""
}

// directoryOf returns the first directory that a transcript names.
func directoryOf(ctx context.Context, f foreign.File) (cwd string) {
	_ = f.EachLine(ctx, foreign.Quiet, func(n int64, b []byte) error { // the end of ctx ends the next pass, too
		l, err := parseLine(b)
		if err == nil {
			cwd = l.cwd
		}
		if cwd != "" || n >= maxHeadLines {
			return foreign.ErrEnough
		}
		return nil
	})
	return cwd
}

// here returns the project of the folder that the tree is.
func (l *layout) here(o foreign.Options) string {
	dir := l.tree.Root()
	if filepath.Base(dir) == ".claude" {
		dir = filepath.Dir(dir)
	}
	return o.ProjectFor(dir)
}
