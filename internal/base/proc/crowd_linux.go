package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Crowded reports whether more than twice as many threads want to run at this moment as the
// machine has processors; false where it cannot be told.
func Crowded() bool { return crowded("/") }

func crowded(root string) bool {
	load, err := os.ReadFile(filepath.Join(root, "proc/loadavg"))
	if err != nil {
		return false
	}
	fields := strings.Fields(string(load)) // as 0.20 0.18 0.12 1/80 11206
	if len(fields) < 4 {
		return false
	}
	running, _, _ := strings.Cut(fields[3], "/")
	threads, err := strconv.Atoi(running)
	// Inside a container the file counts the threads of the whole machine, so all its processors
	// count, and not only those that this process may use.
	online, rerr := os.ReadFile(filepath.Join(root, "sys/devices/system/cpu/online"))
	return err == nil && rerr == nil && threads > 2*processors(string(online))
}

// processors counts a list as 0-3,8. It returns a very large number for a text that is no such
// list, and then no machine is crowded.
func processors(list string) (n int) {
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(to)
		}
		if err != nil || last < first || first < 0 || last > 1<<20 {
			return 1 << 20
		}
		n += last - first + 1
	}
	return n
}
