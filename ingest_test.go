package amber_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

const journalID = "00112233445566778899aabbccddeeff"

func TestEveryPartOfAStepIsAboutItsSession(t *testing.T) {
	t.Parallel()
	turn := func(id amber.SessionID) amber.IngestStep {
		return amber.IngestStep{Turns: []amber.Turn{{SessionID: id, Role: amber.RoleUser, Content: "x"}}}
	}
	for name, step := range map[string]func(id amber.SessionID) amber.IngestStep{
		"turn": turn,
		"activity": func(id amber.SessionID) amber.IngestStep {
			return amber.IngestStep{Activity: []amber.Activity{{SessionID: id, Kind: amber.ActivityTool, Name: "x"}}}
		},
		"compaction": func(id amber.SessionID) amber.IngestStep {
			return amber.IngestStep{Compaction: &amber.Compaction{SessionID: id, Summary: "x"}}
		},
		"end": func(id amber.SessionID) amber.IngestStep { return amber.IngestStep{End: &amber.SessionEnd{ID: id}} },
	} {
		for id, want := range map[amber.SessionID]amber.Kind{"s": "", "other": amber.KindInvalid, "": amber.KindInvalid} {
			s := step(id)
			s.Start.ID = "s"
			_, err := amber.Ingestion{Journal: journalID, Host: "h", Session: "s", Steps: []amber.IngestStep{s}}.Normalize()
			if got := amber.KindOf(err); got != want {
				t.Errorf("%s of session %q: got %q (%v), want %q", name, id, got, err, want)
			}
		}
	}
}

func TestNormalizedIngestionSharesNothing(t *testing.T) {
	t.Parallel()
	in := amber.Ingestion{Journal: journalID, Host: "h", Session: "s", Steps: []amber.IngestStep{{
		Start: amber.SessionStart{ID: "s"},
		Turns: []amber.Turn{{SessionID: "s", Role: amber.RoleUser, Content: "x"}},
		End:   &amber.SessionEnd{ID: "s"},
	}}}
	out, err := in.Normalize()
	must.Do(t, err)
	if out.Steps[0].Start.Binding != amber.DefaultBinding || out.Steps[0].End.Reason != amber.EndEnded {
		t.Errorf("defaults are not filled in: %+v", out.Steps[0])
	}
	if in.Steps[0].Start.Binding != "" || in.Steps[0].End.Reason != "" {
		t.Errorf("the ingestion that was passed in changed: %+v", in.Steps[0])
	}
	out.Steps[0].Turns[0].Content = "y"
	if in.Steps[0].Turns[0].Content != "x" {
		t.Error("the turns are shared")
	}
}

func TestActivityAgain(t *testing.T) {
	t.Parallel()
	first := amber.Activity{Name: "a", Detail: "d", Status: "created", Count: 2, FirstAt: amber.UnixMilli(10), LastAt: amber.UnixMilli(20)}
	for _, c := range []struct {
		name       string
		next, want amber.Activity
	}{
		{
			"later",
			amber.Activity{Detail: "e", Status: "modified", Count: 1, Failed: 1, FirstAt: amber.UnixMilli(5), LastAt: amber.UnixMilli(30)},
			amber.Activity{Name: "a", Detail: "e", Status: "modified", Count: 3, Failed: 1, FirstAt: amber.UnixMilli(10), LastAt: amber.UnixMilli(30)},
		},
		{
			"earlier and without words",
			amber.Activity{Count: 1, LastAt: amber.UnixMilli(15)},
			amber.Activity{Name: "a", Detail: "d", Status: "created", Count: 3, FirstAt: amber.UnixMilli(10), LastAt: amber.UnixMilli(20)},
		},
		{
			"more often than can be counted",
			amber.Activity{Count: math.MaxInt64, Failed: math.MaxInt64},
			amber.Activity{Name: "a", Detail: "d", Status: "created", Count: math.MaxInt64, Failed: math.MaxInt64, FirstAt: amber.UnixMilli(10), LastAt: amber.UnixMilli(20)},
		},
	} {
		if d := cmp.Diff(c.want, first.Again(c.next), cmp.AllowUnexported(amber.Time{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
