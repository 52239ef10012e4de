package redact_test

import (
	"strings"
	"testing"
)

func TestArmour(t *testing.T) {
	t.Parallel()
	const (
		gone  = "[REDACTED:private-key]"
		begin = "-----BEGIN RSA PRIVATE" + " KEY-----"
		end   = "-----END RSA PRIVATE" + " KEY-----"
	)
	line := strings.Repeat("MIIEpAIBAAKCAQEA", 4)
	body := strings.Repeat(line+"\n", 4)
	indented := "  " + begin + "\n  " + strings.ReplaceAll(body, "\n", "\n  ") + end
	quoted := "> " + begin + "\n> " + strings.ReplaceAll(body, "\n", "\n> ") + end
	checkChanges(t, []change{
		{"block", "a\n" + begin + "\n" + body + end + "\nb", "a\n" + gone + "\nb"},
		{"carriage returns", begin + "\r\n" + strings.ReplaceAll(body, "\n", "\r\n") + end + "\r\n", gone + "\r\n"},
		{"indented", indented + "\nb", "  " + gone + "\nb"},
		{"quoted as mail", quoted + "\nb", "> " + gone + "\nb"},
		{"on one line", begin + " " + strings.ReplaceAll(body, "\n", " ") + end + " b", gone + " b"},
		{"escaped newlines", `KEY="` + begin + `\n` + strings.ReplaceAll(body, "\n", `\n`) + end + `\n"`, `KEY="` + gone + `\n"`},
		{"escaped twice", `"` + begin + `\\n` + strings.ReplaceAll(body, "\n", `\\n`) + end + `"`, `"` + gone + `"`},
		{"escaped slashes", `"` + begin + `\n` + strings.ReplaceAll(body, "\n", `\/A\n`) + end + `"`, `"` + gone + `"`},
		{"end is missing", "a " + begin + "\n" + body + "and then some text.", "a " + gone + "\nand then some text."},
		{"end is missing in JSON", `["` + begin + `\n` + strings.ReplaceAll(body, "\n", `\n`) + `"]`, `["` + gone + `\n"]`},
		{"cut in the last line", begin + "\n" + body + "-----END RSA PRI", gone},
		{"two", begin + "\n" + body + end + "\n" + begin + "\n" + body + end, gone + "\n" + gone},
		{"cut, or made up", begin + "\nMIIE\n" + end, gone},
		{"with invisible characters", begin + "\n" + strings.ReplaceAll(body, "A", "A\u200b") + end + "\nb", gone + "\nb"},
		{"mentioned", `if strings.HasPrefix(s, "` + begin + `") {`, ""},
		{"elided", begin + "\n...\n" + end, ""},
		{"a certificate", "-----BEGIN CERTIFICATE-----\n" + body + "-----END CERTIFICATE-----", ""},
		{"a public key", "-----BEGIN PUBLIC KEY-----\n" + body + "-----END PUBLIC KEY-----", ""},
		{"a public PGP key", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n" + body + "-----END PGP PUBLIC KEY BLOCK-----", ""},
	})
}

func TestJWT(t *testing.T) {
	t.Parallel()
	const gone = "[REDACTED:jwt]"
	token := key("jwt")
	parts := strings.Split(token, ".")
	checkChanges(t, []change{
		{"before a full stop", "It is " + token + ". Keep it.", "It is " + gone + ". Keep it."},
		{"before the next sentence", token + ".Keep it", gone + ".Keep it"},
		{"encrypted", token + "." + parts[2] + "." + parts[2] + " b", gone + " b"},
		{"in a query", "?token=" + token + "&x=1", "?token=" + gone + "&x=1"},
		{"no signature", parts[0] + "." + parts[1], ""},
		{"no algorithm", "eyJhIjoxLCJiIjoiY2RlZmdoaWprbCJ9." + parts[1] + "." + parts[2], ""},
		{"not JSON", "eyJhbGciOi" + "." + parts[1] + "." + parts[2], ""},
		{"cut off", parts[0] + "...", ""},
	})
}
