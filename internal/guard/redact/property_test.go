package redact_test

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/test/must"
)

var (
	seed  = flag.Uint64("redact.seed", 1, "seed of the random texts")
	texts = flag.Int("redact.texts", 3000, "number of random texts")
)

// glue is what random texts are made of beside secrets and parts of them.
var glue = []string{
	"", "", " ", "\n", "\t", "-", "_", ".", "/", "+", "=", ":", ";", ",", "@", "#", "$", "\\", `\\`, `\n`, `\\n`, `\"`, `\/`, `\u003c`, `\u003e`,
	`\u00e9`, "\"", "'", "`", "(", ")", "[", "]", "{", "}", "<", ">", "&", "|", "é", "\xff", "://", "user:", "https://u:p4ssW0rd@", "password=", "token:",
	`"secret": "`, "TOKEN=", "api_key=", "Authorization: Bearer ", "Basic ", "Cookie: sid=", "<private>", "</private>", "<private a=b>", "<private/>",
	`\u003cprivate\u003e`, `\u003c/private\u003e`, "[REDACTED:jwt]", "[REDACTED:none]", "[REDACTED:", "-----BEGIN PRIVATE" + " KEY-----", "-----END PRIVATE" + " KEY-----",
	"--token ", "curl -u ", "machine h login l password ", "sk-", "ghp_", "eyJ", "AKIA", "xoxb-", "AIza", "K001", "base64:", "Private-Lines: 3\n",
	"\x1b[32m", `\u001b[0m`, "%3D", "&quot;", "?key=", " set ", "sshpass -p ", "mysql -p", " key", " is ", "→", `, "value": "`, "value=", "_KEY=", "pwd=",
	`{"value":"`, `","name":"`, "DB_PASSWORD", " for ", ": ", `"auth":"`, `"--password","`, "<password>", "token ", "hunter2", "Sommer2024", "kJecaDWFfVTvVKqg", "@example.com", "PASSWORD: ",
	`\u0067`, `\\u0067`, `\x67`, "%67", "%20", "&#103;", "\u200b", "\u00ad", "\ufe0f", "ｇｈｐ＿", "：", "\r\n", "\\\n", `" + "`, "'\n  '", "\n> ", "\n    ",
	"Z2hwX0", "Z2hwXzE2QzdlNDJGMjkyYzY5MTJFNzcxMGM4MzgzNDdBZTE3OEI0YQ==", "6768705f", "h:5432:d:u:", "pass=", "SSWS 00", "---- BEGIN SSH2 PRIVATE" + " KEY ----",
	"0123456789abcdef", "aaaaaaaa", "word", "Kj8sLq0PzXw4", "9f8e7d6c5b4a3f2e1d0c",
}

// mixer makes random texts.
type mixer struct {
	*rand.Rand
	samples []sample
}

// text returns a text of up to n pieces.
func (m *mixer) text(n int) string {
	var b strings.Builder
	for range m.IntN(n) + 1 {
		switch m.IntN(4) {
		case 0, 1:
			b.WriteString(glue[m.IntN(len(glue))])
		case 2:
			b.WriteString(m.samples[m.IntN(len(m.samples))].Text())
		case 3:
			s := m.samples[m.IntN(len(m.samples))].Text()
			i := m.IntN(len(s))
			b.WriteString(s[i : i+m.IntN(len(s)-i)+1])
		}
	}
	return b.String()
}

// value returns a random JSON value.
func (m *mixer) value(depth int) any {
	switch k := m.IntN(8); {
	case k == 0 && depth > 0:
		list := []any{}
		for range m.IntN(4) {
			list = append(list, m.value(depth-1))
		}
		return list
	case k <= 3 && depth > 0:
		object := map[string]any{}
		for range m.IntN(4) {
			object[m.key()] = m.value(depth - 1)
		}
		return object
	case k == 4:
		return json.Number([]string{"12345678901234567890", "1e5", "-0.5", "123456789012345E10", "0"}[m.IntN(5)])
	case k == 5:
		return []any{true, false, nil}[m.IntN(3)]
	}
	return m.text(6)
}

func (m *mixer) key() string {
	return []string{"password", "token", "authorization", "cookie", "api_key", "private_key", "x", m.text(3)}[m.IntN(8)]
}

func TestRandomTexts(t *testing.T) {
	t.Parallel()
	r := redact.New()
	m := &mixer{rand.New(rand.NewPCG(*seed, 0)), samples(t, 2)}
	for range *texts {
		checkPromises(t, r, m.text(12))
		if t.Failed() {
			t.Fatalf("seed %d", *seed)
		}
	}
}

func TestRandomJSON(t *testing.T) {
	t.Parallel()
	r := redact.New()
	m := &mixer{rand.New(rand.NewPCG(*seed, 1)), samples(t, 2)}
	for range *texts {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(m.IntN(2) == 0)
		must.Do(t, enc.Encode(m.value(3)))
		text := b.String()
		if m.IntN(3) == 0 {
			text = strings.ReplaceAll(text, "/", `\/`)
		}
		checkPromises(t, r, text)
		if t.Failed() {
			t.Fatalf("seed %d", *seed)
		}
	}
}

// checkPromises checks what holds for every text.
func checkPromises(t *testing.T, r *redact.Redactor, text string) {
	t.Helper()
	once, report := r.String(text)
	if twice, again := r.String(once); twice != once {
		t.Errorf("redacted twice\n text %q\n once %q\ntwice %q\n%v", text, once, twice, again)
	}
	if (report.Total == 0) != (once == text) {
		t.Errorf("%q: %d removals, yet the text became %q", text, report.Total, once)
	}
	if json.Valid([]byte(text)) && !json.Valid([]byte(once)) {
		t.Errorf("no longer JSON\n text %q\n once %q", text, once)
	}
	sum := 0
	for rule, n := range report.Counts {
		sum += n
		if marker := "[REDACTED:" + rule + "]"; !slices.Contains(r.Rules(), rule) || strings.Count(once, marker) < n {
			t.Errorf("%q: %d removals by %s, yet the text became %q", text, n, rule, once)
		}
	}
	if sum != report.Total {
		t.Errorf("report of %q: counts add up to %d, total is %d", text, sum, report.Total)
	}
}
