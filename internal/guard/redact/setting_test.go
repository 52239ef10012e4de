package redact_test

import (
	"strings"
	"testing"
)

// random20 and random40 look like keys of no provider.
var (
	random20 = strings.Repeat("k3Xp9Q", 1) + "zR7vT2mW8bLd4s"
	random40 = "k3Xp9QzR7vT2mW8bLd4s" + "Yf6Hn1Jc5Ga0Ue9Kx2Vq"
)

func TestHeaders(t *testing.T) {
	t.Parallel()
	checkChanges(t, []change{
		{"bearer", "Authorization: Bearer " + random40, "Authorization: Bearer [REDACTED:bearer-token]"},
		{"short bearer", "authorization: bearer abc123def456", "authorization: bearer [REDACTED:bearer-token]"},
		{"in a command", `curl -H "Authorization: Bearer ` + random20 + `" x`, `curl -H "Authorization: Bearer [REDACTED:bearer-token]" x`},
		{"in code", `req.Header.Set("Authorization", "Bearer ` + random20 + `")`, `req.Header.Set("Authorization", "Bearer [REDACTED:bearer-token]")`},
		{"in a template", "`Bearer ${" + random20 + "}`", ""},
		{"a number of JSON", `{"authorization": 123456789012345E10}`, ""},
		{"placeholder", "Authorization: Bearer YOUR_API_TOKEN", ""},
		{"variable", "Authorization: Bearer $TOKEN and Bearer ${TOKEN}", ""},
		{"angle brackets", "Authorization: Bearer <token>", ""},
		{"prose", "A bearer token authenticates its bearer without further proof.", ""},
		{"basic prose", "Authorization: Basic authentication", ""},
		{"basic of placeholders", "Authorization: Basic dXNlcjpwYXNzd29yZA==", ""},
		{
			"cookies", "Cookie: lang=en; session_id=a81f0d2c9b7e4c55; theme=dark\r\n",
			"Cookie: lang=en; session_id=[REDACTED:session-cookie]; theme=dark\r\n",
		},
		{
			"cookies in JSON", `{"Set-Cookie":"auth_token=` + random20 + `; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT"}`,
			`{"Set-Cookie":"auth_token=[REDACTED:session-cookie]; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT"}`,
		},
		{"cookie prose", "The cookie: a small text. A cookie banner=annoying.", ""},
	})
}

func TestURLs(t *testing.T) {
	t.Parallel()
	checkChanges(t, []change{
		{"password", "https://joe:s3same@git.acme.io/x", "https://joe:[REDACTED:url-password]@git.acme.io/x"},
		{"database", "mysql://root:letmein9@10.0.0.5:3306/db", "mysql://root:[REDACTED:database-url-password]@10.0.0.5:3306/db"},
		{"escaped slashes", `"amqp:\/\/joe:s3same@mq\/v"`, `"amqp:\/\/joe:[REDACTED:database-url-password]@mq\/v"`},
		{"IPv6 host", "redis://:s3same@[::1]:6379", "redis://:[REDACTED:database-url-password]@[::1]:6379"},
		{"digits in JSON", `{"u":"ftp://joe:20240131@h"}`, `{"u":"ftp://joe:[REDACTED:url-password]@h"}`},
		{"two", "http://a:b7xy@h1,http://c:d8zw@h2", "http://a:[REDACTED:url-password]@h1,http://c:[REDACTED:url-password]@h2"},
		{"no password", "ssh://git@github.com/x and https://example.com:8080/a@b", ""},
		{"user is password", "postgres://postgres:postgres@localhost/db", ""},
		{"placeholder", "postgres://user:password@localhost, https://user:pass@host, ftp://u:xxxxx@h", ""},
		{"reserved domain", "https://abc:xyz123@example.com/", ""},
		{"variables", "postgres://$USER:$PASS@h ${U}:${P}@h postgres://%s:%s@%s http://{user}:{pass}@h", ""},
		{"several hosts", "mongodb://h1:27017,h2:27017/db?w=majority", ""},
		{"image digest", "docker://nginx:1.25.3@sha256:0123", ""},
		{"netrc over lines", "machine h.io\n  login joe\n  password s3same\n", "machine h.io\n  login joe\n  password [REDACTED:netrc-password]\n"},
		{"curl", "curl --user joe:s3same -X POST", "curl --user joe:[REDACTED:curl-user] -X POST"},
		{"not curl", "docker run -u joe:s3same image", ""},
	})
}

func TestAssignments(t *testing.T) {
	t.Parallel()
	const gone = "[REDACTED:secret-assignment]"
	checkChanges(t, []change{
		{"JSON", `{"apiKey":"` + random20 + `"}`, `{"apiKey":"` + gone + `"}`},
		{"YAML", "client_secret: " + random20 + "\n", "client_secret: " + gone + "\n"},
		{"TOML", "token = '" + random20 + "'\n", "token = '" + gone + "'\n"},
		{"Go", `var apiKey string = "` + random20 + `"`, `var apiKey string = "` + gone + `"`},
		{"Python", `TOKEN: str = "` + random20 + `"`, `TOKEN: str = "` + gone + `"`},
		{"Ruby", `:password => "` + random20 + `"`, `:password => "` + gone + `"`},
		{"PHP", `define("API_SECRET", "` + random20 + `");`, `define("API_SECRET", "` + gone + `");`},
		{"index", `env["API_TOKEN"] = "` + random20 + `"`, `env["API_TOKEN"] = "` + gone + `"`},
		{"call", `setPassword("` + random20 + `")`, `setPassword("` + gone + `")`},
		{"query", "GET /x?access_token=" + random20 + "&page=2", "GET /x?access_token=" + gone + "&page=2"},
		{"padding", "secret=" + random20 + "==", "secret=" + gone},
		{"punctuation in quotation marks", `password: "` + random20 + `:;,&x" # note`, `password: "` + gone + `" # note`},
		{"environment", "DB_PASSWORD=Summer2024!\n", "DB_PASSWORD=[REDACTED:env-assignment]\n"},
		{"environment in a command", "docker run -e PG_PASSWORD=q7Rt9xLm img", "docker run -e PG_PASSWORD=[REDACTED:env-assignment] img"},
		{"Laravel", "APP_KEY=base64:" + random40 + "abc=\n", "APP_KEY=base64:[REDACTED:env-assignment]\n"},
		{"a number of JSON", `{"token":12345678901234567890,"secret":1234567890123456E1}`, ""},
		{"words", `token = "the-quick-brown-fox-jumps", secret: CorrectHorseBatteryStaple2`, ""},
		{"placeholders", "API_KEY=your-api-key-here TOKEN=changeme1 SECRET=xxxxxxxxxxxxxxxx KEY_SECRET=<token>", ""},
		{"variables", "TOKEN=${TOKEN} SECRET=$(cat secret.txt) PASSWORD=$PASSWORD1 token: {{ .Values.token1 }}", ""},
		{"identifiers", "token := nextToken2FromHeader1(req)\nPassword: cfg.Database.PasswordV2,", ""},
		{"UUID", `"token": "6f1c1f0e-8c1b-4f7e-9a52-0d8f4e6b1c2d"`, ""},
		{"commit", "token: 3f786850e387550fdab836ed7e6dc881de23001b", ""},
		{"version", "secret_version: v1.24.0-20230101123456-abcdef123456", ""},
		{"date", "token_expiry: 2024-05-01T10:20:30.123456Z0ab", ""},
		{"path", "password: /run/secrets/db_1/password.txt, token=./testdata/t0ken/file1.json", ""},
		{"URL", "token_url: https://login.acme.io/oauth2/v2/token", ""},
		{"mail address", "credential: someone.else.2024@mail.acme.io", ""},
		{"what is said about it", "secret_name: " + random20 + "\ntoken_id=" + random20 + "\npublic_key_token=" + random20, ""},
		{"digest", "password_hash: " + random40 + "\ntoken_sha256=" + random40, ""},
		{"next page", `"nextPageToken": "` + random20 + `", "next_token": "` + random20 + `"`, ""},
		{"counts", "max_tokens: 4096, token_count = 123456789012345678", ""},
		{"the working directory", "PWD=/home/joe/src/x1 OLDPWD=/Tmp1/abc", ""},
		{"in code", `cmd.Env = append(os.Environ(), "TOKEN="+os.Getenv("CI_TOKEN_V2"))`, ""},
		{"integrity", `"integrity": "sha512-` + random40 + random40 + `=="`, ""},
	})
}
