package codex

import (
	"cmp"
	"path"
	"slices"

	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

const uuidPattern = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`

var rolloutName = pattern.Of(
	`^rollout-([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2})-(` + uuidPattern + `)(?:_(` + uuidPattern + `))?\.jsonl(\.zst)?$`)

// rollout is the file of a thread.
type rollout struct {
	file    foreign.File
	thread  string // "" where the name does not say
	at      string // of the name
	version string // after a revert; "" for the first
	packed  bool
}

func parseName(f foreign.File) (rollout, bool) {
	m := rolloutName().FindStringSubmatch(path.Base(f.Name))
	if m == nil {
		return rollout{}, false
	}
	return rollout{file: f, at: m[1], thread: m[2], version: m[3], packed: m[4] != ""}, true
}

// compare orders the files of a thread, oldest first. Codex may put a packed copy of a file away while the file is
// still there: then both are the same, and the packed one comes first.
func (r rollout) compare(s rollout) int {
	packed := map[bool]int{true: 0, false: 1}
	return cmp.Or(cmp.Compare(r.at, s.at), cmp.Compare(r.version, s.version),
		r.file.Modified.Compare(s.file.Modified), cmp.Compare(packed[r.packed], packed[s.packed]), cmp.Compare(r.file.Name, s.file.Name))
}

// newest returns the newest file of each thread, oldest thread first, so that a thread comes before its forks.
func (r *reader) newest() []rollout {
	var out []rollout
	if f, ok := r.tree.Single(); ok && isRollout(f) {
		one, _ := parseName(f)
		one.file = f
		return []rollout{one}
	}
	for _, f := range r.tree.Files() {
		one, ok := parseName(f)
		if !ok {
			continue
		}
		if before, twice := r.threads[one.thread]; !twice || before.compare(one) < 0 {
			r.threads[one.thread] = one
		}
	}
	for _, one := range r.threads {
		out = append(out, one)
	}
	slices.SortFunc(out, rollout.compare)
	return out
}
