package gitsync

import (
	"cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// QuarantineError says that an import left chunks out, with the reason of the first
// and what helps against it; nil when it took all of them in.
func QuarantineError(r wire.SyncImport) error {
	if len(r.Quarantined) == 0 {
		return nil
	}
	first := r.Quarantined[0]
	e := amber.Errorf(amber.KindDamaged, "import", r.Dir, "%d chunks were not imported, the first because: %s", len(r.Quarantined), first.Reason)
	if len(r.Quarantined) == 1 {
		e = amber.Errorf(amber.KindDamaged, "import", r.Dir, "1 chunk was not imported, because: %s", first.Reason)
	}
	e.Hint = map[amber.Kind]string{
		amber.KindDamaged:  "git checkout -- " + r.Dir + " restores the files; amber sync repair mends a broken manifest of Engram",
		amber.KindTooNew:   "update amber, then run amber sync import again",
		amber.KindRefused:  "amber key trust DIDKEY, if you know who signed it",
		amber.KindNotFound: "git checkout -- " + r.Dir + " restores the files",
	}[first.Kind]
	e.Hint = cmp.Or(e.Hint, "amber sync status lists the chunks")
	return e
}
