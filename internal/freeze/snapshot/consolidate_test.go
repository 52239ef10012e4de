package snapshot_test

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
)

// Before memory is rewritten the agent is frozen, as far as that is insisted
// on.
func TestBeforeConsolidationTakesASnapshot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		insist   snapshot.Insistence
		disabled string
		taken    bool
		kind     amber.Kind
		warnings int
	}{
		{"", "", true, "", 0},
		{snapshot.Require, "", true, "", 0},
		{snapshot.Off, "", false, "", 0},
		{snapshot.Try, "switched off", false, "", 1},
		{snapshot.Require, "switched off", false, amber.KindRefused, 0},
	} {
		warnings := 0
		w := newWorld(t, func(o *snapshot.Options) {
			o.BeforeConsolidation, o.Disabled = c.insist, c.disabled
			o.Warn = func(string) { warnings++ }
		})
		w.remember("something")
		id, err := w.engine.BeforeConsolidation(t.Context(), "default", "default", "run-7")
		if amber.KindOf(err) != c.kind && (err != nil || c.kind != "") {
			t.Errorf("%q: error %v, want kind %q", c.insist, err, c.kind)
		}
		must.Hold(t, (id != "") == c.taken && warnings == c.warnings, "%q: snapshot %q and %d warnings", c.insist, id, warnings)
		if !c.taken {
			continue
		}
		d := must.Get(w.engine.ShowSnapshot(t.Context(), ref(id)))(t)
		must.Equal(t, fmt.Sprintf("%q: label", c.insist), d.Label, "auto:pre-consolidation-run-7")
	}
}
