package redact_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/test/must"
)

func with(t testing.TB, o redact.Options) *redact.Redactor {
	t.Helper()
	return must.Get(redact.With(o))(t)
}

func TestOwnRules(t *testing.T) {
	t.Parallel()
	r := with(t, redact.Options{
		Own:        []string{"ticket = TCK-[0-9]{6}", `customer=(?i)kunde\s+\w.*`, "host = [a-z]+\\.corp\\.example"},
		Exceptions: []string{"AKIA2E0A8F3B244C9986", "TCK-00000[0-9]"},
	})
	for text, want := range map[string]string{
		"see TCK-123456 and TCK-1234567":    "see [REDACTED:ticket] and [REDACTED:ticket]7",
		"see TCK-000001 and TCK-000010":     "see TCK-000001 and [REDACTED:ticket]",
		`{"k":"Kunde Meier, Ulm","n":1}`:    `{"k":"[REDACTED:customer]","n":1}`,
		"Kunde Meier\nOrder 7":              "[REDACTED:customer]\nOrder 7",
		"on db.corp.example":                "on [REDACTED:host]",
		"key AKIA2E0A8F3B244C9986":          "key AKIA2E0A8F3B244C9986",
		"key AKIA2E0A8F3B244C9987":          "key [REDACTED:aws-access-key-id]",
		"see [REDACTED:ticket] again":       "see [REDACTED:ticket] again",
		"<private>TCK-123456</private> end": "[REDACTED:private] end",
	} {
		if got, _ := r.String(text); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
	if _, report := r.String("TCK-123456 TCK-123457"); report.Counts["ticket"] != 2 {
		t.Errorf("%+v", report)
	}
}

// TestPrivatePassagesCanBeKept: what an author marked stays at home, but a secret
// in it does not.
func TestPrivatePassagesCanBeKept(t *testing.T) {
	t.Parallel()
	r := with(t, redact.Options{KeepPrivate: true})
	const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	got, report := r.String("open <private>the code is quixotine, " + token + "</private> now")
	if want := "open <private>the code is quixotine, [REDACTED:github-token]</private> now"; got != want || report.Total != 1 {
		t.Errorf("%q, %+v", got, report)
	}
}

func TestOwnRulesThatAreRefused(t *testing.T) {
	t.Parallel()
	for line, words := range map[string]string{
		"no equals sign":              "want NAME = PATTERN",
		"Ticket = TCK-[0-9]{6}":       "want a name",
		"a b = TCK-[0-9]{6}":          "want a name",
		"github-token = TCK-[0-9]{6}": "is the name of a rule of Amber",
		"t = TCK-[0-9":                "not RE2: missing closing ]",
		"t = (?=x)abcdef":             "not RE2",
		"t = (a)\\1aaaa":              "not RE2",
		"t = ^TCK-[0-9]{6}":           "stands beside",
		`t = \bTCK-[0-9]{6}\b`:        "stands beside",
		"t = abc":                     "matches texts of 3 bytes, want at least 4",
		"t = .*":                      "matches texts of 0 bytes",
		"t = (abcd|e)":                "matches texts of 1 bytes",
		`t = "secret"`:                "quotation mark",
		`t = a\[bcdef`:                "square bracket",
		`t = a[\]\[]bcde`:             "class of characters that may not be removed",
		"t = ((abcd{500}){500}){500}": "not RE2: invalid repeat count",
		"t = " + strings.Repeat("a", redact.MaxPatternBytes+1): "the pattern has 1001 bytes, want at most 1000",
		"t = " + strings.Repeat("[a-f]{90}", 50):               "too large",
	} {
		_, err := redact.With(redact.Options{Own: []string{line}})
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%.60q: %v, want %q", line, err, words)
		}
		if err != nil && strings.Contains(err.Error(), "TCK") {
			t.Errorf("the error repeats the pattern: %v", err)
		}
	}
	many := make([]string, redact.MaxOwn+1)
	for i := range many {
		many[i] = fmt.Sprintf("t%d = abcd%d", i, i)
	}
	if _, err := redact.With(redact.Options{Own: many}); err == nil || !strings.Contains(err.Error(), "want at most 64") {
		t.Errorf("many: %v", err)
	}
	must.Error(t, "an exception that is no pattern", must.Err(redact.With(redact.Options{Exceptions: []string{"x("}})))
}

// TestOwnRulesKeepThePromises has patterns that match pieces of everything:
// redacting twice is redacting once, and JSON stays JSON.
func TestOwnRulesKeepThePromises(t *testing.T) {
	t.Parallel()
	r := with(t, redact.Options{
		Own: []string{
			"digits = [0-9]{4}", "anything = pass.{2,}", "words = [a-z]{5}[^x]*", "upper = [A-Z0-9]{6,}", "spaces = \\w+ +\\w{3}", "hex = (?i)[0-9a-fu]{5,}", "end = .{3}\\W",
		},
		Exceptions: []string{"[a-m]{5}.*", "12345", ".*-.*-.*abc.*"},
	})
	m := &mixer{rand.New(rand.NewPCG(*seed, 7)), samples(t, 2)}
	for i := range *texts {
		text := m.text(12)
		if i%2 == 0 {
			b := must.Get(json.Marshal(m.value(3)))(t)
			text = string(b)
		}
		if i%6 == 0 {
			text = strings.ReplaceAll(text, "a", `\u0061`)
		}
		checkPromises(t, r, text)
		if t.Failed() {
			t.Fatalf("seed %d", *seed)
		}
	}
}
