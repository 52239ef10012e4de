//go:build linux

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// readmeAnswers are what the questions of the README find first, after what the README stores.
var readmeAnswers = map[string]string{
	"which database did we pick and why": "We chose PostgreSQL",
	"which database did we pick":         "We chose PostgreSQL",
	"when do we deploy":                  "Deploy on Mondays and Thursdays",
	"when must we not ship a release":    "frozen on Fridays",
	"depolyments frozne":                 "frozen on Fridays",
	"rounding":                           "Rounding happened twice",
	"how do we round":                    "Rounding happened twice",
	"when is the kiln hot":               "The kiln is hot at noon",
	"how should I answer Ada?":           "Ada",
}

// Every question of the README is answered with the right memory first.
func TestReadmeAnswers(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	s.does("remember", "We chose PostgreSQL for JSONB", "--title", "Database", "--tag", "decision")
	s.does("remember", "Deploy on Mondays only", "--topic", "deploy window")
	s.does("remember", "Deploy on Mondays and Thursdays", "--topic", "deploy window")
	s.does("session", "start", "--name", "checkout bug")
	s.does("turn", "add", "the total is wrong for two coupons")
	s.does("note", "write", "incidents/coupons", "# Coupons\nRounding happened twice.")
	s.does("session", "end", "--summary", "rounding fixed")
	s.does("remember", "Deployments to production are frozen on Fridays")
	s.does("remember", "The kiln is hot at noon")
	s.does("remember", "Ada wants short answers")
	readme := string(must.Get(os.ReadFile("../../README.md"))(t))
	questions := regexp.MustCompile(`recall\(?\s?"([^"]+)"([^#\n]*)`).FindAllStringSubmatch(readme, -1)
	if len(questions) < 8 {
		t.Fatalf("the README asks %q, want at least 8 questions", questions)
	}
	for _, q := range questions {
		args := []string{"recall", q[1]}
		if layers := regexp.MustCompile(`--layer \S+`).FindAllString(q[2], -1); layers != nil {
			args = append(args, strings.Fields(strings.Join(layers, " "))...)
		}
		got, want := told[amber.RecallResult](s, args...), readmeAnswers[q[1]]
		if want == "" || len(got.Hits) == 0 || !strings.Contains(got.Hits[0].Content+got.Hits[0].Snippet, want) {
			t.Errorf("the README asks %q, which finds %+v, want %q first", q[1], got.Hits, want)
			continue
		}
		if score := got.Hits[0].Score; wire.LikelihoodOf(score) == wire.Weak {
			t.Errorf("the README asks %q, and the right first hit is weak: %.2f", q[1], score)
		}
	}
}
