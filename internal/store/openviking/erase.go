package openviking

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// eraseTimeout bounds what erasing does on the server.
const eraseTimeout = 30 * time.Second

// Erase implements [amber.Eraser]: the primary's, then the files of the memory are deleted at
// once. Those that cannot be are reported as remaining; the feeder deletes them later.
func (s *Store) Erase(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	if s.o.Primary.Eraser == nil {
		return amber.EraseReport{}, amber.Errorf(amber.KindUnsupported, "erase memory", string(id), "the primary does not erase")
	}
	before := s.known()
	names, err := s.namesOf(ctx, before, id, math.MaxInt)
	if err != nil {
		return amber.EraseReport{}, err
	}
	report, err := s.o.Primary.Eraser.Erase(ctx, id)
	if err != nil {
		return report, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), eraseTimeout)
	defer cancel()
	alone := false // no feeder is at work
	if release, busy := s.lock(ctx); busy == nil {
		defer func() { _ = release() }() // the lock ends with the process at the latest
		alone = true
	}
	l, err := s.ready(ctx)
	for i := range names { // now it may be known whose files they are
		names[i] = l.root() + strings.TrimPrefix(names[i], before.root())
	}
	state := s.feedState(ctx, l)
	if err != nil {
		s.remain(l, names, err, &report)
	} else {
		state.fed = s.eraseFiles(ctx, l, id, names, &report) || state.fed
	}
	s.remainInside(l, state, &report)
	if err == nil && !alone {
		report.Remaining = append(report.Remaining, s.known().root()+": a feeder is at work, and may write the file once more before it deletes it")
	}
	return report, nil
}

// remain reports files that could not be deleted. Without names it reports the root of all files.
func (s *Store) remain(l layout, names []string, err error, report *amber.EraseReport) {
	if len(names) == 0 {
		names = []string{l.root()}
	}
	for _, uri := range names {
		report.Remaining = append(report.Remaining, fmt.Sprintf("%s: %s", uri, clip.Marked(clip.Printed(err.Error()), maxReason)))
	}
}

// eraseFiles deletes every file of a memory. Names are those of its revisions; files with other
// digests are found by listing where they can lie. It reports whether some were there.
func (s *Store) eraseFiles(ctx context.Context, l layout, id amber.MemoryID, names []string, report *amber.EraseReport) bool {
	listed, err := s.filesOf(ctx, l, id, names)
	if err != nil {
		report.Remaining = append(report.Remaining, fmt.Sprintf("%s: files of other versions were not looked for: %s", l.root(), clip.Marked(clip.Printed(err.Error()), maxReason)))
	}
	deleted := 0
	all := union(listed, names)
	for i, uri := range all {
		err := s.o.Server.Delete(ctx, uri, false)
		if amber.KindOf(err) == amber.KindUnreachable { // each of the others would wait as long
			s.remain(l, all[i:], err, report)
			break
		}
		if err != nil && amber.KindOf(err) != amber.KindNotFound {
			s.remain(l, []string{uri}, err, report)
		} else if slices.Contains(listed, uri) {
			deleted++
		}
	}
	if deleted > 0 {
		report.Removed = append(report.Removed, fmt.Sprintf("files of OpenViking: %d", deleted))
	}
	return deleted > 0
}

// feedState is what the cursor tells about what the server may hold.
type feedState struct{ fed, doubt bool }

func (s *Store) feedState(ctx context.Context, l layout) feedState {
	c, err := s.o.Cursors.IndexCursor(ctx, l.place(&s.o))
	if err != nil || l.user == "" { // not known
		return feedState{true, err != nil}
	}
	return feedState{c.Fence > 0, !readNotes(c.Notes).CompareAt.IsZero()}
}

// remainInside reports what no deletion reaches.
func (s *Store) remainInside(l layout, state feedState, report *amber.EraseReport) {
	if state.doubt {
		report.Remaining = append(report.Remaining, l.root()+": the server did not answer a while ago, and may yet write the file once more; the next comparison deletes it")
	}
	if state.fed {
		report.Remaining = append(report.Remaining, s.o.URL+": the vector store of OpenViking keeps the text and the vectors of deleted files in its own files, until it is compacted or longer")
	}
}

// filesOf lists the files of a memory: in the folders of its revisions, or everywhere where these
// are not known.
func (s *Store) filesOf(ctx context.Context, l layout, id amber.MemoryID, names []string) (found []string, err error) {
	var folders []string
	for _, uri := range names {
		if !slices.Contains(folders, folderOf(uri)) {
			folders = append(folders, folderOf(uri))
		}
	}
	if len(folders) == 0 {
		folders = []string{l.root()}
	}
	for _, folder := range folders {
		err := s.o.Server.List(ctx, folder, func(uri string) error {
			if n, ok := l.parse(uri); ok && n.id == id {
				found = append(found, uri)
			}
			return nil
		})
		if err != nil && amber.KindOf(err) != amber.KindNotFound {
			return found, err
		}
	}
	return found, nil
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
