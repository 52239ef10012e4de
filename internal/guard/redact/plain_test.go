package redact_test

import "testing"

// letters20 is a key without a digit.
const letters20 = "kJecaDWFfVTv" + "VKqgQwEr"

// Replacements of a value.
const (
	goneSecret   = "[REDACTED:secret-assignment]"
	gonePassword = "[REDACTED:password-assignment]"
	goneSetting  = "[REDACTED:env-assignment]"
	goneBasic    = "[REDACTED:basic-auth]"
)

func TestLettersAlone(t *testing.T) {
	t.Parallel()
	checkChanges(t, []change{
		{"JSON", `{"password":"` + letters20 + `","access_token":"QwErTyUiOpAsDfGhJkLz"}`, `{"password":"` + goneSecret + `","access_token":"` + goneSecret + `"}`},
		{"short", `{"password":"kJecaDWFfVTv"}`, `{"password":"` + gonePassword + `"}`},
		{"arguments", `["login","--password","` + letters20 + `"]`, `["login","--password","` + goneSecret + `"]`},
		{"arguments in JSON", `"[\"--password\",\"` + letters20 + `\"]"`, `"[\"--password\",\"` + goneSecret + `\"]"`},
		{"an option", "login --token " + letters20, "login --token " + goneSecret},
		{"XML", "<password>" + letters20 + "</password>", "<password>" + goneSecret + "</password>"},
		{"a header", "Authorization: token " + letters20, "Authorization: token [REDACTED:authorization-header]"},
		{"a setting", "API_TOKEN=" + letters20, "API_TOKEN=" + goneSetting},
		{"YAML", "password: " + letters20 + "\n", "password: " + goneSecret + "\n"},
		{"identifiers", "password: getPassword\ntoken := parseToken\npassword: String\npassword: udpPayloadLen\ntoken = gotDfBindNow", ""},
		{"types", `{"password":"string","token":"String","secret":"SecretString"}`, ""},
		{"words", `{"token":"XMLHttpRequest","password":"LoadCommandBytes","secret":"HelloWorldAgain"}`, ""},
		{"a header in prose", "Authorization: token authenticationScheme", ""},
	})
}

func TestPlainPasswords(t *testing.T) {
	t.Parallel()
	checkChanges(t, []change{
		{"a setting", "export DB_PASSWORD=hunter2\n", "export DB_PASSWORD=" + goneSetting + "\n"},
		{"a setting in JSON", `{"cmd":"export DB_PASS=\"hunter2\" && run"}`, `{"cmd":"export DB_PASS=\"` + goneSetting + `\" && run"}`},
		{"a setting in YAML", "DB_PASSWORD: hunter2\n", "DB_PASSWORD: " + gonePassword + "\n"},
		{"JSON", `{"password":"hunter2"}`, `{"password":"` + gonePassword + `"}`},
		{"JSON in JSON", `{"t":"{\"password\": \"hunter2\"}"}`, `{"t":"{\"password\": \"` + gonePassword + `\"}"}`},
		{"XML", "<password>hunter2</password>", "<password>" + gonePassword + "</password>"},
		{"XML in JSON", `"\u003cpassword\u003ehunter2\u003c/password\u003e"`, `"\u003cpassword\u003e` + gonePassword + `\u003c/password\u003e"`},
		{"options", "login --password hunter2 --verbose", "login --password " + gonePassword + " --verbose"},
		{"a prompt", "password: Sommer2024\n", "password: " + gonePassword + "\n"},
		{"a prompt in JSON", `{"prompt":"the password is Sommer2024"}`, `{"prompt":"the password is ` + gonePassword + `"}`},
		{"a URL", "https://joe:hunter2@git.acme.io/x", "https://joe:[REDACTED:url-password]@git.acme.io/x"},
		{"code", "password = \"hunter2\"\nf(user, password=pass12)\nthis.password = pass12;\npassword: field1\npwd: uint32\n", ""},
		{"calls", `element("password", "input24")`, ""},
		{"other names", `{"token":"abc123","passwordStrength":"level3","password_hint":"born1970","passwordType":"bcrypt12"}`, ""},
		{"placeholders", `{"password":"password1","db_password":"changeme1","pwd":"test1234","passwd":"base64"}`, ""},
		{"no digit", "export DB_PASSWORD=sesame\n{\"password\":\"sesame\"}\npassword: sesame", ""},
		{"a secret behind", "password: Sommer2024<private>x</private>", "password: Sommer2024[REDACTED:private]"},
	})
}

func TestPairs(t *testing.T) {
	t.Parallel()
	checkChanges(t, []change{
		{"JSON", `"env":[{"name":"DB_PASSWORD","value":"` + random20 + `"}]`, `"env":[{"name":"DB_PASSWORD","value":"` + goneSecret + `"}]`},
		{"plain", `{"name":"DB_PASSWORD","value":"hunter2"}`, `{"name":"DB_PASSWORD","value":"` + gonePassword + `"}`},
		{"letters", `{"key": "DB_PASSWORD", "value": "` + letters20 + `"}`, `{"key": "DB_PASSWORD", "value": "` + goneSecret + `"}`},
		{"YAML in JSON", `"- name: DB_PASSWORD\n  value: ` + letters20 + `\n"`, `"- name: DB_PASSWORD\n  value: ` + goneSecret + `\n"`},
		{"swapped", `{"value":"` + random20 + `","name":"DB_PASSWORD","x":1}`, `{"value":"` + goneSecret + `","name":"DB_PASSWORD","x":1}`},
		{"swapped, with punctuation", `{"value":"` + random20 + `=;,:x","name":"API_TOKEN"}`, `{"value":"` + goneSecret + `","name":"API_TOKEN"}`},
		{"swapped in JSON", `"{\"Value\": \"` + random20 + `\",\n \"Key\": \"API_TOKEN\"}"`, `"{\"Value\": \"` + goneSecret + `\",\n \"Key\": \"API_TOKEN\"}"`},
		{"swapped in XML", `<add value="` + random20 + `" key="ApiKey" />`, `<add value="` + goneSecret + `" key="ApiKey" />`},
		{"swapped and both", `{"value":"` + random20 + `","name":"API_TOKEN","value":"` + random20 + `"}`, `{"value":"` + random20 + `","name":"API_TOKEN","value":"` + goneSecret + `"}`},
		{"a gap", `{"value":"` + random20 + `","name":"API_TOKEN","` + random20 + `":1}`, `{"value":"` + goneSecret + `","name":"API_TOKEN","` + random20 + `":1}`},
		{"another field", `{"id":"` + random20 + `","name":"API_TOKEN"}`, ""},
		{"another name", `{"value":"` + random20 + `","name":"COMMIT"}`, ""},
		{"a number", `{"value":12345678901234567890,"name":"API_TOKEN"}`, ""},
	})
}

func TestRegistryAuth(t *testing.T) {
	t.Parallel()
	const auth = "dTo3dlNHVlMxMU9PQ0dk" + "UlNuQlJHMg=="
	checkChanges(t, []change{
		{"docker", `{"auths":{"ghcr.io":{"auth":"` + auth + `"}}}`, `{"auths":{"ghcr.io":{"auth":"` + goneBasic + `"}}}`},
		{"docker in JSON", `"{\"auths\":{\"ghcr.io\":{\"auth\": \"` + auth + `\"}}}"`, `"{\"auths\":{\"ghcr.io\":{\"auth\": \"` + goneBasic + `\"}}}"`},
		{"Python", `{'auth': '` + auth + `'}`, `{'auth': '` + goneBasic + `'}`},
		{"npm", "//npm.acme.io/:_auth=" + auth + "\n", "//npm.acme.io/:_auth=" + goneBasic + "\n"},
		{"a placeholder", `{"auth":"dXNlcjpwYXNzd29yZA=="}`, ""},
		{"others", `{"auth":"basic","author":"` + auth + `","authority":"` + auth + `","auth":{"a":"b"},"auth":12345678}`, ""},
		{"not text", `{"auth":"AAECAwQFBgcICQoLDA0ODw=="}`, ""},
	})
}

// TestGlued removes keys that a path or a name goes on with.
func TestGlued(t *testing.T) {
	t.Parallel()
	r := map[string]string{}
	for _, rule := range []string{"aws-access-key-id", "google-api-key", "jwt", "github-token", "anthropic-api-key", "databricks-token", "replicate-api-token"} {
		r[rule] = key(rule)
	}
	var changes []change
	for rule, k := range r {
		gone := "[REDACTED:" + rule + "]"
		changes = append(changes,
			change{rule + " in a path", "/tmp/" + k, "/tmp/" + gone},
			change{rule + " in a directory", "/tmp/" + k + "/x", "/tmp/" + gone + "/x"},
			change{rule + " in an escaped path", `"\/tmp\/` + k + `"`, `"\/tmp\/` + gone + `"`},
			change{rule + " in a word", "x" + k, ""},
		)
	}
	for _, rule := range []string{"aws-access-key-id", "google-api-key", "github-token", "anthropic-api-key"} {
		changes = append(changes, change{rule + " behind a name", "key_" + r[rule], "key_[REDACTED:" + rule + "]"})
	}
	checkChanges(t, append(changes,
		change{"a table in base64", "x/ABIAAABOAAAAPAMAAI8EAABq/EAAAoBUAACMUAACJEgAAixQAAE0VAADUEQAAzxQAABAYAADJFgAA3BYAAMERAADg", ""},
		change{"a region", "/regions/ASIAPACIFICSOUTHEAST1", ""},
	))
}

func TestSaid(t *testing.T) {
	t.Parallel()
	checkChanges(t, []change{
		{"a token", "use token " + random20, "use token " + goneSecret},
		{"in JSON", `{"prompt":"use the token ` + random20 + `\nplease"}`, `{"prompt":"use the token ` + goneSecret + `\nplease"}`},
		{"in quotation marks", "use the API key `" + random20 + "`.", "use the API key `" + goneSecret + "`."},
		{"a prompt", "Password for joe: " + random20, "Password for joe: " + goneSecret},
		{"a prompt and a word", "password for joe: Sommer2024\n", "password for joe: " + gonePassword + "\n"},
		{"a prompt with a URL", "Password for 'https://joe@git.acme.io': " + random20, "Password for 'https://joe@git.acme.io': " + goneSecret},
		{"a prompt of ssh", "Enter passphrase for key '/home/joe/.ssh/id_rsa': " + letters20 + "\n", "Enter passphrase for key '/home/joe/.ssh/id_rsa': " + goneSecret + "\n"},
		{"for and is", "the token for staging is " + random20, "the token for staging is " + goneSecret},
		{"prose", "the token authentication-middleware2 uses; a secret projects/acme-prod-1/secrets/x; token 3f786850e387550fdab836ed7e6dc881de23001b", ""},
		{"advice", "Password for the admin: see 1Password. Password for users: 12 characters.", ""},
		{"code", "func parse(token lexerTokenKind2Value1, secret internalSecretV2Reference) error", ""},
		{"a UUID", "with token 6f1c1f0e-8c1b-4f7e-9a52-0d8f4e6b1c2d", ""},
	})
}

func TestExampleHosts(t *testing.T) {
	t.Parallel()
	checkChanges(t, []change{
		{"any scheme", "ftp://joe:" + random20 + "@host/x", "ftp://joe:[REDACTED:url-password]@host/x"},
		{"a database", "postgres://joe:" + random20 + "@db.example.com/x", "postgres://joe:[REDACTED:database-url-password]@db.example.com/x"},
		{"letters", "https://joe:" + letters20 + "@example.org", "https://joe:[REDACTED:url-password]@example.org"},
		{"made up", "https://user:pass@example.com https://user:p4ssw0rd@example.com/ postgres://app:s3cret@db.example.com ftp://joe:letmein1@host", ""},
		{"placeholders", "https://user:your-password-123@example.com https://u:correct-horse-battery@example.com", ""},
	})
}
