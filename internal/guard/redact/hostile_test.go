package redact_test

import (
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/guard/redact"
)

// hostile are units of which a long text is made to provoke the most work per
// byte: anchors without secrets, heads without tails, starts without ends.
var hostile = map[string]string{
	"zeros":            "\x00",
	"backslashes":      `\`,
	"quotes":           `\"`,
	"open tags":        "<private>",
	"closed tags":      "<private></private>",
	"half tags":        "<private a=",
	"closing tags":     "</private>",
	"escaped tags":     `\u003cprivate`,
	"tags in JSON":     `{"a":"<private>x"}`,
	"tag lines":        "{\"a\":\"<private>x\"}\n",
	"armour":           "-----BEGIN PRIVATE" + " KEY-----",
	"armour and text":  "-----BEGIN PRIVATE" + " KEY-----\nabcd efgh",
	"armour ends":      "-----END PRIVATE" + " KEY-----",
	"tokens":           "token=",
	"token words":      "token=token.token/token:",
	"secret names":     "secret_password_api_key_token",
	"quoted":           `"token":"`,
	"URLs":             "://",
	"user URLs":        "://a:b",
	"long users":       "://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"cookies":          "cookie:",
	"cookie pairs":     "cookie: a=b; ",
	"session cookies":  "cookie: sid=aaaaaaaaaaaaaaaaaaaaaaaaaa; ",
	"cookie values":    "cookie=a=",
	"cookie lists":     "cookie=a=a; ",
	"curl users":       "curl -u ",
	"machines":         "machine ",
	"netrc":            "machine a login b password ",
	"bearers":          "bearer ",
	"authorizations":   "Authorization: Bearer ",
	"JWT heads":        "eyJ",
	"JWT dots":         ".eyJ",
	"JWT parts":        "eyJhbGciOiJIUzI1NiJ9.",
	"markers":          "[REDACTED:jwt]",
	"marker starts":    "[REDACTED:",
	"key lines":        "Private-Lines: ",
	"filled keys":      "ghp_" + strings.Repeat("x", 36) + "-",
	"filled key names": "sk-ant-" + strings.Repeat("x", 40) + " ",
	"hooks":            "hooks.slack.com/services/",
	"command options":  "mysql -p",
	"long options":     "mysql -ps3cr3tpw9 -u",
	"colours":          "\x1b[0m",
	"colour names":     "\x1b[0mtoken",
	"spaced names":     "token \n",
	"value fields":     `token","value":"`,
	"name fields":      `","name":"token`,
	"pairs":            `"value":"aaaaaaaaaaaaaaaa","name":"token",`,
	"long pairs":       `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","name":"token`,
	"for":              "token for ",
	"for a long time":  "password for aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: ",
	"said":             "token token ",
	"auth fields":      `"auth":"`,
	"JWT paths":        "/eyJ",
	"quoted armour":    "-----BEGIN PRIVATE" + " KEY-----\n\"abcd\",\n",
	"type arguments":   "a<Private>",
	"ats":              "://a:b@c@",
	"zeros of base64":  "A",
	"dashes":           "-",
	"signatures":       "sig=" + strings.Repeat("a", 40),
	"escaped letters":  `\u0067`,
	"half escapes":     `\u006`,
	"escapes of URLs":  "%67",
	"nested escapes":   "%25",
	"entities":         "&#103;",
	"open entities":    "&#",
	"unseen":           "a\u200b",
	"only unseen":      "\u200b",
	"full width":       "\uff47",
	"short lines":      "Ab1c\n",
	"joined strings":   `A1b2C3" + "`,
	"broken settings":  "token=A1b2C3d4\nE5f6G7h8\n",
	"continued lines":  "A1b2C3d4\\\n",
	"lines in JSON":    `A1b2C3d4\n`,
	"text in base64":   "Z2hwX3Rva2Vu",
	"paths":            "abcd/",
	"text in digits":   "6768705f",
	"base64 in base64": "V2pKb2QxZ3pVblpoTWxaMQ",
	"pgpass":           "h:5432:d:u:",
	"ports":            ":5432",
	"SSH2":             "---- BEGIN SSH2 PRIVATE" + " KEY ----\n",
	"bitwarden":        "0.a",
}

// TestHostileTexts fails where work grows faster than the text: a quarter of a megabyte takes some tens of
// milliseconds then, and minutes where it grows with the square. Other work on the machine can only
// make a measurement longer, so the best of some tries counts.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	size, most, tries := 256<<10, 3*time.Second, 3
	if testing.Short() {
		size, most = 64<<10, time.Second
	}
	r := redact.New()
	for name, unit := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Repeat(unit, size/len(unit)+1)
			took := time.Duration(math.MaxInt64)
			for range tries {
				began := time.Now()
				r.String(text)
				if took = min(took, time.Since(began)); took < most {
					return
				}
			}
			t.Errorf("%d bytes take %v, want less than %v", len(text), took, most)
		})
	}
}

// TestHostilePromises keeps the promises where everything is an anchor, a
// secret or half of one.
func TestHostilePromises(t *testing.T) {
	t.Parallel()
	const size = 8 << 10
	units := maps.Clone(hostile)
	for _, s := range samples(t, 1) {
		units["sample of "+s.Rule] = s.Text() + " "
		units["joined samples of "+s.Rule] = s.Text()
		units["head of "+s.Rule] = s.Text()[:len(s.Text())/2]
	}
	r := redact.New()
	for name, unit := range units {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkPromises(t, r, strings.Repeat(unit, size/len(unit)+1))
		})
	}
}
