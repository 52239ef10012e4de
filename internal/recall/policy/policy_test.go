package policy_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/policy"
	"github.com/amber-memory/amber/internal/test/must"
)

// Every switch of the policy says no to exactly its lessons, and names its key.
func TestWriteBackDecisions(t *testing.T) {
	t.Parallel()
	found := amber.WriteRequest{Content: "found"}
	yes := map[amber.Lesson]string{amber.LessonLearning: "", amber.LessonDigest: "", amber.LessonCase: ""}
	with := func(reason string, lessons ...amber.Lesson) map[amber.Lesson]string {
		out := map[amber.Lesson]string{}
		for l := range yes {
			out[l] = ""
		}
		for _, l := range lessons {
			out[l] = reason
		}
		return out
	}
	all := []amber.Lesson{amber.LessonLearning, amber.LessonDigest, amber.LessonCase}
	for name, c := range map[string]struct {
		policy policy.Conservative
		want   map[amber.Lesson]string // the reason against, "" for none
	}{
		"as it is":     {policy.Conservative{}, with("memory.write_back.cases is false", amber.LessonCase)},
		"cases":        {policy.Conservative{AutoWriteBack: true}, yes},
		"no learnings": {policy.Conservative{AutoWriteBack: true, NoLearnings: true}, with("memory.write_back.learnings is false", amber.LessonLearning)},
		"no digests":   {policy.Conservative{AutoWriteBack: true, NoDigests: true}, with("memory.write_back.digests is false", amber.LessonDigest)},
		"nothing":      {policy.Conservative{AutoWriteBack: true, NothingLearnt: true}, with("memory.write_back.enabled is false", all...)},
		"no writes":    {policy.Conservative{AutoWriteBack: true, WriteDisabled: true}, with("memory.write.enabled is false", all...)},
		"no recall":    {policy.Conservative{AutoWriteBack: true, RecallDisabled: true}, yes},
	} {
		for lesson, reason := range c.want {
			in := amber.WriteBackInput{Lesson: lesson, Found: &found, Goal: "g", Response: "r", Succeeded: true}
			if lesson == amber.LessonCase {
				in.Found = nil
			}
			req, d := c.policy.WriteBack(in)
			if d.BlockedReason != reason || d.Effective != (reason == "") || d.Effective == (req.Content == "") {
				t.Errorf("%s, %s: %+v with %q, want %q", name, lesson, d, req.Content, reason)
			}
		}
	}
	if _, d := (policy.Conservative{AutoWriteBack: true}).WriteBack(amber.WriteBackInput{Lesson: "rumour", Found: &found}); d.Effective || d.Requested {
		t.Errorf("a lesson nobody knows is %+v", d)
	}
}

// A case is made of a turn that succeeded and waits for nothing; whatever it
// holds, a store takes it.
func TestCases(t *testing.T) {
	t.Parallel()
	p := policy.Conservative{AutoWriteBack: true}
	for reason, in := range map[string]amber.WriteBackInput{
		"the turn did not succeed": {Goal: "g", Response: "r"},
		"a loop is pending":        {Goal: "g", Response: "r", Succeeded: true, PendingLoopActive: true},
		"goal or answer is empty":  {Goal: " \n", Response: "r", Succeeded: true},
	} {
		if _, d := p.WriteBack(in); d.Effective || d.BlockedReason != reason || !d.Requested {
			t.Errorf("%+v, want %q", d, reason)
		}
	}
	long := strings.Repeat("é", 1<<20)
	req, d := p.WriteBack(amber.WriteBackInput{
		RequestID: "r1", Goal: "fix\tthe build\u202e\nnow " + long, Response: long, Succeeded: true, Identities: amber.Identities{SessionID: "s", ProjectID: "p"},
	})
	if !d.Effective || req.Title != "fix the build" || req.Scope != amber.ScopeProject || req.Kind != amber.HistoricalCase || req.Trust != amber.TrustDerived {
		t.Errorf("%+v, %+v", d, req.Title)
	}
	must.NoError(t, must.Err(req.Normalize()))
}
