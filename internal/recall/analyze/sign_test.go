package analyze_test

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestSignsOfAQuestion(t *testing.T) {
	for text, want := range map[string]analyze.Query{
		"🚀":                    {Words: []string{}, Runs: []string{"🚀"}},
		"🚀🎉🚀":                  {Words: []string{}, Runs: []string{"🚀", "🎉"}},
		"the 🚀":                {Words: []string{}, Runs: []string{"🚀"}},
		"deploy🚀now":           {Words: []string{"deploy", "now"}, Runs: []string{"🚀"}},
		"❤️":                   {Words: []string{}, Runs: []string{"❤"}},
		"👍🏽":                   {Words: []string{}, Runs: []string{"👍"}},
		"👩\u200d💻":             {Words: []string{}, Runs: []string{"👩", "💻"}},
		"🇩🇪🇫🇷":                 {Words: []string{}, Runs: []string{"🇩🇪", "🇫🇷"}},
		"🇩":                    {Words: []string{}, Runs: []string{}},
		"✅ 東京":                 {Words: []string{}, Runs: []string{"東京", "✅"}},
		"?! -- () 20 °C © ...": {Words: []string{"20", "c"}, Terse: true, Runs: []string{}},
	} {
		got := analyze.Parse(text)
		got.Related = nil
		must.Equal(t, fmt.Sprintf("Parse(%q)", text), got, want)
	}
}
