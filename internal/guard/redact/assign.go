package redact

import (
	"slices"
	"strings"
)

// assignmentRules removes values that a name calls secret and that look like
// one: NAME=value, "name": "value", name := "value", --name value, and so on.
var assignmentRules = []rule{{name: "secret-assignment", anchors: secretNames, finder: findAssignment}}

func findAssignment(v view, at int, found []span) []span {
	a, ok := v.assignment(at)
	if !ok {
		return found
	}
	name := a.rule(v)
	if name == "" {
		return found
	}
	return append(found, span{a.start, a.secretEnd(v), name})
}

// secretNames are the parts of a name that call its value secret.
var secretNames = []string{
	"password", "passwd", "passphrase", "_pass", "pwd", "secret", "token", "credential",
	"apikey", "api_key", "api-key", "accesskey", "access_key", "access-key", "authkey", "auth_key", "auth-key",
	"privatekey", "private_key", "private-key", "encryptionkey", "encryption_key", "encryption-key",
	"signingkey", "signing_key", "signing-key", "masterkey", "master_key", "master-key", "accountkey", "account_key",
	"sharedkey", "shared_key", "servicekey", "service_key", "role_key", "licensekey", "license_key", "license-key",
	"appkey", "app_key", "app-key", "admin_key", "adminkey", "hmac_key", "hmackey", "jwt_key", "session_key", "sessionkey",
	"storage_key", "storagekey", "subscription_key", "subscription-key", "subscriptionkey", "write_key", "writekey",
	"server_key", "serverkey", "deploy_key", "webhook_key", "api key", "access key",
	"passwort", "kennwort", "wachtwoord", "contrasena", "senha", "pass=", "pw=", "pw:",
	"bw_session", "requirepass", "masterauth",
	"_key", "_pat", "_auth", // see settingEnds
}

// settingEnds are names' ends that call a value secret in an environment file,
// and much else elsewhere.
var settingEnds = []string{"_key", "_pat", "_auth"}

// passwordNames are the names of what people choose. Their values are judged
// as such, not as random ones.
var passwordNames = []string{"password", "passwd", "passphrase", "pwd", "passwort", "kennwort", "wachtwoord", "contrasena", "senha"}

// rule returns the rule that removes the value, "" when none does.
func (a *assignment) rule(v view) string {
	value := v.text[a.start:a.end]
	if !a.quoted && a.end < v.hi && strings.IndexByte("([{", v.text[a.end]) >= 0 && !(a.setting && random(value)) {
		return "" // a call or an index, not a value
	}
	name := strings.ToLower(a.name)
	if a.isPartOfWord() {
		return ""
	}
	if a.name == "PWD" || a.name == "OLDPWD" {
		return "" // the working directory
	}
	if isHarmless(name, name[len(name)-len(a.tail):]) {
		return ""
	}
	if vendor := v.vendorOf(name, value); vendor != "" {
		return vendor
	}
	if slices.Contains(settingEnds, strings.ToLower(a.tail)) {
		switch {
		case a.setting && random(value):
			return "env-assignment"
		case strings.EqualFold(a.tail, "_auth") && isBasic(value):
			return "basic-auth" // as npm writes it
		}
		return ""
	}
	if a.setting && alnum.has[value[0]] && chosen(value) && !(identifies(value) && len(value) >= minRandom) {
		return "env-assignment"
	}
	if a.setting && opens(name) && identifies(value) && len(value) >= 24 && varied(value) {
		return "env-assignment" // nothing else than a secret is set so
	}
	switch {
	case a.said:
		return a.saidRule(value)
	case !a.quoted && jumbled(value) && !isJumble(value, 40) && !a.isExplicit(v):
		return "" // the name of a variable
	case random(value):
		return "secret-assignment"
	case containsAny(name, passwordNames) && a.isPassword(value):
		return "password-assignment"
	case !a.isPlain(v, value):
		return ""
	case a.setting:
		return "env-assignment"
	}
	return "password-assignment"
}

// opens reports whether the folded name of a setting ends with a word for what opens something.
func opens(name string) bool {
	for _, end := range [...]string{"_token", "_secret", "_api_key", "_apikey", "_password", "_access_key", "_secret_key", "_private_key"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// isPartOfWord reports whether the short name of a password ends a longer word, as in "bypass".
func (a *assignment) isPartOfWord() bool {
	before := len(a.name) - len(a.tail) - 1
	return before >= 0 && alnum.has[a.name[before]] && (strings.EqualFold(a.tail, "pass") || strings.EqualFold(a.tail, "pw"))
}

// saidRule is rule for a value that only stands behind the name. Any word may,
// so it must be one that is no word at all.
func (a *assignment) saidRule(value string) string {
	t := tallyOf(value)
	if t.lower == 0 || t.upper == 0 || t.digit == 0 && !isJumble(value, 40) || !random(value) {
		return ""
	}
	return "secret-assignment"
}

// isPassword reports whether a value given to the name of a password looks
// chosen, and not like the name of a variable or field.
func (a *assignment) isPassword(value string) bool {
	if !alnum.has[value[0]] || !chosen(value) || namesSecret(value) || identifies(value) && len(value) >= minRandom {
		return false
	}
	t := tallyOf(value)
	switch {
	case t.digit == 0 && t.other == 0:
		return jumbled(value)
	case a.quoted, t.digit > 0 && t.other > 0:
		return true
	case strings.Contains(value, "."):
		return false
	}
	return wordShare(value) < 0.3
}

// settingByte are the bytes of the value of a setting without quotation marks.
var settingByte = newClass("!#$%&()*+,./0-9:=?@A-Z^_a-z{}~-")

// secretEnd returns where the secret ends: in quotation marks, and in a setting, where they or
// the word end, for the secret may hold bytes that end a bare value.
func (a *assignment) secretEnd(v view) int {
	const longest = 512
	end := a.end
	if !a.quoted {
		for a.setting && end < min(v.hi, a.end+longest) && settingByte.has[v.text[end]] && !v.has(end, "&&") {
			end++
		}
		return end
	}
	for end < min(v.hi, a.end+longest) && v.text[end] > ' ' && strings.IndexByte("\"'`\\<>[]", v.text[end]) < 0 {
		end++
	}
	return end
}

// Names that hold a secret word and name something else: a token that opens
// nothing, or what is said about the secret.
var (
	harmlessParts = []string{
		"public", "page_token", "pagetoken", "page-token", "next_token", "nexttoken", "next-token", "sync_token", "synctoken",
		"continuation", "starting", "cursor", "placeholder", "example", "integrity",
	}
	harmlessEnds = []string{
		"id", "ids", "name", "file", "path", "url", "uri", "type", "ref", "arn", "version", "count", "length", "size", "format",
		"field", "label", "regex", "pattern", "prefix", "suffix", "endpoint", "algorithm", "policy",
		"hash", "sha1", "sha256", "sha512", "md5", "digest", "checksum", "fingerprint",
	}
)

// isHarmless reports whether a folded name, the end of which begins with a
// secret word, names something else.
func isHarmless(name, end string) bool {
	return containsAny(name, harmlessParts) ||
		slices.ContainsFunc(harmlessEnds, func(word string) bool { return strings.HasSuffix(end, word) })
}
