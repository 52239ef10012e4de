package redact_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/guard/redact/secrettest"
	"github.com/amber-memory/amber/internal/test/must"
)

// change is a text and what it becomes; want is empty where it stays.
type change struct{ name, in, want string }

func checkChanges(t *testing.T, changes []change) {
	t.Helper()
	r := redact.New()
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := cmp.Or(c.want, c.in)
			got, _ := r.String(c.in)
			must.Equal(t, fmt.Sprintf("String(%q)", c.in), got, want)
			checkPromises(t, r, c.in)
		})
	}
}

// key returns a made-up key.
func key(rule string) string {
	for _, t := range secrettest.Templates() {
		if t.Rule == rule {
			return t.Secret(7).Value
		}
	}
	panic("no template for " + rule)
}

func TestRules(t *testing.T) {
	t.Parallel()
	rules := redact.Rules()
	if len(rules) < 60 {
		t.Errorf("got %d rules, want 60 or more", len(rules))
	}
	if !slices.IsSorted(rules) || len(slices.Compact(slices.Clone(rules))) != len(rules) {
		t.Errorf("rules are not sorted or not unique: %v", rules)
	}
	kebab := regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	for _, name := range rules {
		if !kebab.MatchString(name) {
			t.Errorf("rule %q is not in kebab case", name)
		}
	}
}

func TestNothingFound(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for _, text := range []string{"", "plain text", "a token, a password and a key"} {
		got, report := r.String(text)
		must.Equal(t, "a text without secrets", got, text)
		must.Equal(t, fmt.Sprintf("report of %q", text), report, redact.Report{})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	gh, aws := key("github-token"), key("aws-access-key-id")
	_, report := redact.New().String(gh + " " + aws + " " + gh)
	want := redact.Report{
		Counts: map[string]int{"github-token": 2, "aws-access-key-id": 1},
		Total:  3,
		Bytes:  2*len(gh) + len(aws),
	}
	must.Equal(t, "report", report, want)

	var sum redact.Report
	sum.Add(redact.Report{})
	sum.Add(report)
	sum.Add(report)
	want = redact.Report{
		Counts: map[string]int{"github-token": 4, "aws-access-key-id": 2},
		Total:  6,
		Bytes:  2 * want.Bytes,
	}
	must.Equal(t, "sum", sum, want)
	must.Equal(t, "the report that was given to Add", report.Counts["github-token"], 2)
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	r := redact.New()
	all := samples(t, 1)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, s := range all {
				if got, _ := r.String(s.Text()); got != s.Redacted() {
					t.Errorf("got %q, want %q", got, s.Redacted())
				}
			}
		})
	}
	wg.Wait()
}

func TestMarkers(t *testing.T) {
	t.Parallel()
	gh := key("github-token")
	checkChanges(t, []change{
		{"known", "[REDACTED:secret-assignment]=" + key("secret-assignment"), ""},
		{"hides nothing", "[REDACTED:" + gh + "]", "[REDACTED:[REDACTED:github-token]]"},
		{"unknown", "[REDACTED:token]=" + gh, "[REDACTED:token]=[REDACTED:github-token]"},
		{"as a value", "password=[REDACTED:env-assignment]", ""},
		{"beside a key", "[REDACTED:jwt]" + gh, "[REDACTED:jwt][REDACTED:github-token]"},
	})
}

func TestNeighbours(t *testing.T) {
	t.Parallel()
	gh, aws, jwt := key("github-token"), key("aws-access-key-id"), key("jwt")
	checkChanges(t, []change{
		{"side by side", gh + "," + aws, "[REDACTED:github-token],[REDACTED:aws-access-key-id]"},
		{"the provider's rule wins", "GITHUB_TOKEN=" + gh, "GITHUB_TOKEN=[REDACTED:github-token]"},
		{"inside a URL", "https://x:" + gh + "@github.com", "https://x:[REDACTED:github-token]@github.com"},
		{"as a bearer", "Authorization: Bearer " + jwt, "Authorization: Bearer [REDACTED:jwt]"},
		{"not inside a word", "x" + gh, ""},
		{"not inside base64", "+" + jwt, ""},
		{"behind an escape", `"\n` + gh + `\t"`, `"\n[REDACTED:github-token]\t"`},
		{"behind a code point", `"\u00e9` + gh + `"`, `"\u00e9[REDACTED:github-token]"`},
		{"an escape's letter is no key's", `"\` + "rk_live_" + strings.Repeat("a1B2c3D4", 3) + `"`, ""},
		{"an ellipsis", "sk-..., ghp_..., AKIA...", ""},
	})
}

func ExampleRedactor_String() {
	token := "ghp_" + strings.Repeat("a1B2c3D4e5F6", 3)
	text, report := redact.New().String("push with " + token)
	fmt.Println(text)
	fmt.Println(report.Total, report.Counts["github-token"], report.Bytes)
	// Output:
	// push with [REDACTED:github-token]
	// 1 1 40
}
