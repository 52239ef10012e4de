package bundle

import (
	"github.com/amber-memory/amber"
)

// Limits bound what reading a bundle may cost. A field that is 0 has its default.
type Limits struct {
	Entries       int   // 200 000
	EntryBytes    int64 // of one entry: 64 GiB
	Expanded      int64 // of the tar: 256 GiB
	Ratio         int64 // of the tar to the file, once the tar is larger than 64 MiB: 1000
	ManifestBytes int64 // of the inner manifest: 64 MiB
	WindowBytes   int64 // of zstd: 16 MiB
}

const (
	ratioFloor  = 64 << 20
	maxSidecar  = 256
	maxOuter    = 64 << 10
	copyBytes   = 64 << 10
	maxTrailing = 1 << 20 // zeros behind the end of a foreign tar
)

func (l Limits) orDefaults() Limits {
	set := func(n *int64, def int64) {
		if *n <= 0 {
			*n = def
		}
	}
	if l.Entries <= 0 {
		l.Entries = 200_000
	}
	set(&l.EntryBytes, 64<<30)
	set(&l.Expanded, 256<<30)
	set(&l.Ratio, 1000)
	set(&l.ManifestBytes, 64<<20)
	set(&l.WindowBytes, 16<<20)
	return l
}

// tarBytes returns how long the tar of a file of a length may be.
func (l Limits) tarBytes(file int64) int64 {
	if file > l.Expanded/l.Ratio {
		return l.Expanded
	}
	return min(l.Expanded, max(ratioFloor, file*l.Ratio))
}

func quota(what string, most int64) error {
	return amber.Errorf(amber.KindQuota, "read bundle", "", "%s, the limit is %d", what, most)
}
