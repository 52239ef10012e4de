package redact_test

import (
	"strings"
	"testing"
)

// TestPlaces removes secrets from where they stand in terminals, files,
// commands and transcripts.
func TestPlaces(t *testing.T) {
	t.Parallel()
	gh := key("github-token")
	const (
		ghGone   = "[REDACTED:github-token]"
		gone     = "[REDACTED:secret-assignment]"
		envGone  = "[REDACTED:env-assignment]"
		passGone = "[REDACTED:password-assignment]"
	)
	checkChanges(t, []change{
		{"in colour", "\x1b[32m" + gh + "\x1b[0m", "\x1b[32m" + ghGone + "\x1b[0m"},
		{"in colour in JSON", `{"out":"\u001b[1;32m` + gh + `\u001b[0m"}`, `{"out":"\u001b[1;32m` + ghGone + `\u001b[0m"}`},
		{"a setting in colour", "\x1b[33mAPI_KEY=q7Rt9xLm\x1b[0m", "\x1b[33mAPI_KEY=" + envGone + "\x1b[0m"},
		{"no colour", "x[32m" + gh, ""},
		{"in an escaped query", "?next=%2Fx%3Ftoken%3D" + gh, "?next=%2Fx%3Ftoken%3D" + ghGone},
		{"an escaped assignment", "api_key%3D" + random20 + "&x", "api_key%3D" + gone + "&x"},
		{"in HTML", "token=&quot;" + random20 + "&quot;", "token=&quot;" + gone + "&quot;"},
		{"in a query", "https://api.acme.io/v1?key=" + random20 + "&x=1", "https://api.acme.io/v1?key=[REDACTED:url-key]&x=1"},
		{"in a path", "https://api.telegram.org/bot123456789:AA" + random20 + "Yf6Hn1Jc5Ga0X/getMe", "https://api.telegram.org/bot[REDACTED:telegram-bot-token]/getMe"},
		{"in a shell", "export GITHUB_TOKEN=\"" + gh + "\"\n", "export GITHUB_TOKEN=\"" + ghGone + "\"\n"},
		{"in a shell in JSON", `{"cmd":"export GITHUB_TOKEN=\"` + gh + `\"\n"}`, `{"cmd":"export GITHUB_TOKEN=\"` + ghGone + `\"\n"}`},
		{"in PowerShell", "$env:API_TOKEN = '" + random20 + "'", "$env:API_TOKEN = '" + gone + "'"},
		{"before a command", "PGPASSWORD=q7rt9xlm psql -h db", "PGPASSWORD=" + envGone + " psql -h db"},
		{"any key in a setting", "STRIPE_KEY=" + random20 + "\nGH_PAT=" + random20 + "\n", "STRIPE_KEY=" + envGone + "\nGH_PAT=" + envGone + "\n"},
		{"set", "aws configure set aws_secret_access_key " + random40, "aws configure set aws_secret_access_key [REDACTED:aws-secret-access-key]"},
		{"said", "The token is " + random20 + ", keep it.", "The token is " + gone + ", keep it."},
		{"said with a key", "API key: " + random20 + "\nSecret Key is `" + random20 + "`", "API key: " + gone + "\nSecret Key is `" + gone + "`"},
		{"a pair of XML", `<add key="ApiKey" value="` + random20 + `" />`, `<add key="ApiKey" value="` + gone + `" />`},
		{"a pair of JSON", `{"name":"API_TOKEN","value":"` + random20 + `"}`, `{"name":"API_TOKEN","value":"` + gone + `"}`},
		{"a pair of YAML", "- name: API_TOKEN\n  value: " + random20 + "\n", "- name: API_TOKEN\n  value: " + gone + "\n"},
		{"a pair with a number", `{"name":"API_TOKEN","value":12345678901234567890}`, ""},
		{"a manifest", "kind: Secret\ndata:\n  password: VHIwdWI0ZG9yM3g5UXpSN3ZU\n", "kind: Secret\ndata:\n  password: " + gone + "\n"},
	})
	checkChanges(t, []change{
		{"chosen", `{"password":"Tr0ub4dor&3"}`, `{"password":"` + passGone + `"}`},
		{"chosen in YAML", "password: Sup3rS3same!\n", "password: " + passGone + "\n"},
		{"chosen in XML", "<password>Tr0ub4dor3</password>", "<password>" + passGone + "</password>"},
		{"chosen in a connection string", "Server=db;Pwd=Tr0ub4dor3;Encrypt=true", "Server=db;Pwd=" + passGone + ";Encrypt=true"},
		{"chosen in a query", "jdbc:postgresql://h/db?user=joe&password=Tr0ub4dor3&ssl=1", "jdbc:postgresql://h/db?user=joe&password=" + passGone + "&ssl=1"},
		{"chosen in a command", "wget --user=joe --password=Tr0ub4dor3 https://x", "wget --user=joe --password=" + passGone + " https://x"},
		{"curl", "curl -ujoe:s3same99 https://x", "curl -ujoe:[REDACTED:curl-user] https://x"},
		{"curl in JSON", `{"command":"curl --user=joe:s3same99 https://x"}`, `{"command":"curl --user=joe:[REDACTED:curl-user] https://x"}`},
		{"sshpass", "sshpass -ps3same99 ssh joe@h", "sshpass -p[REDACTED:command-password] ssh joe@h"},
		{"redis", "redis-cli -h r -a s3same99 ping", "redis-cli -h r -a [REDACTED:command-password] ping"},
		{"another command", "docker login registry.acme.io; mkdir -p out/dir1", ""},
		{"an @ in a password", "postgres://joe:p@ss@w0rd9@db/x", "postgres://joe:[REDACTED:database-url-password]@db/x"},
		{"a # in a password", "postgres://joe:p#ssw0rd9@db/x", "postgres://joe:[REDACTED:database-url-password]@db/x"},
		{"a driver", "postgresql+psycopg2://joe:s3same99@db/x", "postgresql+psycopg2://joe:[REDACTED:database-url-password]@db/x"},
		{"a host in .host", "https://joe:s3same99@db.acme.host/x", "https://joe:[REDACTED:url-password]@db.acme.host/x"},
	})
}

// TestArmourShown removes keys from how tools show files, and from programs
// that hold one line by line.
func TestArmourShown(t *testing.T) {
	t.Parallel()
	const (
		gone  = "[REDACTED:private-key]"
		begin = "-----BEGIN RSA PRIVATE" + " KEY-----"
		end   = "-----END RSA PRIVATE" + " KEY-----"
	)
	line := strings.Repeat("MIIEpAIBAAKCAQEA", 4)
	source := `"` + begin + `\n" +` + "\n  \"" + line + `\n" +` + "\n  \"" + end + `\n"`
	inJSON := strings.ReplaceAll(strings.ReplaceAll(source, `\`, `\\`), `"`, `\"`)
	inJSON = strings.ReplaceAll(inJSON, "\n", `\n`)
	checkChanges(t, []change{
		{"a difference", "+" + begin + "\n+" + line + "\n+" + end, "+" + gone},
		{"numbered", " 1\t" + begin + "\n 2\t" + line + "\n 3\t" + end, " 1\t" + gone},
		{"numbered with arrows", " 1→" + begin + "\n 2→" + line + "\n 3→" + end, " 1→" + gone},
		{"a program", "k = " + source + ";", "k = \"" + gone + `\n";`},
		{"a program in JSON", `{"text":"k = ` + inJSON + `;"}`, `{"text":"k = \"` + gone + `\\n\";"}`},
		{"strings of JSON stay apart", `{"` + begin + `":"` + line + `","` + end + `":1}`, ""},
	})
}
