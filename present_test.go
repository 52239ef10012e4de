package amber_test

import (
	"reflect"
	"testing"

	"github.com/amber-memory/amber"
)

func TestPresentTellsWhichPartsAStoreReallyHas(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]amber.Store{
		"empty": amber.NewStore(amber.Parts{}), "disabled": amber.Disabled("switched off"), "zero": {},
	} {
		if p := s.Present(); !reflect.ValueOf(p).IsZero() {
			t.Errorf("%s: %+v, want nothing", name, p)
		}
	}
	own := struct{ amber.Notes }{amber.NewStore(amber.Parts{}).Notes}
	p := amber.NewStore(amber.Parts{Notes: own}).Present()
	if p.Notes != amber.Notes(own) {
		t.Error("notes are missing")
	}
	if p.Notes = nil; !reflect.ValueOf(p).IsZero() {
		t.Errorf("%+v, want notes only", p)
	}
}
