package analyze_test

import (
	"testing"

	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestContent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                                  {},
		"it is what it is":                  {},
		"We never deploy on Fridays":        {"never", "deploi", "fridai"},
		"the tests tested the testing test": {"test", "test", "test", "test"},
		"使用Redis":                           {"使用", "redi"},
	} {
		must.Equal(t, text, analyze.Content(text), want)
	}
}
