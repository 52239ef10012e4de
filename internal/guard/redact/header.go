package redact

import (
	"encoding/base64"
	"strings"
)

// impliedRules are names that rules give beside their own.
var impliedRules = []string{"bearer-token", "database-url-password", "env-assignment", "gcp-service-account-key", "password-assignment"}

// headerRules are credentials in the headers of requests, as they stand in
// logs, commands, code and JSON.
var headerRules = []rule{
	{name: "authorization-header", anchors: []string{"authorization"}, finder: findAuthorization},
	{name: "bearer-token", anchors: []string{"bearer"}, finder: findBearer},
	{name: "basic-auth", anchors: []string{`"auth`, "'auth"}, finder: findAuthField},
	{name: "session-cookie", anchors: []string{"cookie"}, finder: findCookies},
}

// findAuthorization removes the credential of an Authorization header and
// keeps its scheme.
func findAuthorization(v view, at int, found []span) []span {
	at, ok := v.value(at, at+len("authorization"))
	if !ok {
		return found
	}
	end := credential.padded(v.text, at, v.hi)
	start := v.skip(end, " \t")
	if start > end {
		return v.schemeCredential(v.text[at:end], start, found)
	}
	if random(v.text[at:end]) {
		found = append(found, span{at, end, "authorization-header"})
	}
	return found
}

// schemeCredential removes the credential at start that follows a scheme.
func (v view) schemeCredential(scheme string, start int, found []span) []span {
	end := credential.padded(v.text, start, v.hi)
	value := v.text[start:end]
	switch strings.ToLower(scheme) {
	case "bearer":
		if chosen(value) {
			found = append(found, span{start, end, "bearer-token"})
		}
	case "basic":
		if isBasic(value) {
			found = append(found, span{start, end, "basic-auth"})
		}
	case "ssws":
		if chosen(value) {
			found = append(found, span{start, end, "okta-api-token"})
		}
	case "token", "bot", "apikey", "api-key", "key", "negotiate", "ntlm", "oauth", "genie-key", "splunk", "sso-key":
		if chosen(value) {
			found = append(found, span{start, end, "authorization-header"})
		}
	}
	return found
}

// isBasic reports whether a value is base64 for a user and a password that is
// no placeholder.
func isBasic(s string) bool {
	plain, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		if plain, err = base64.RawStdEncoding.DecodeString(s); err != nil {
			return false
		}
	}
	user, password, ok := strings.Cut(string(plain), ":")
	if !ok || !isText(plain) {
		return false
	}
	return isPassword(user, password) || password == "" && random(user)
}

// findAuthField removes the credential of a registry, which is Basic without
// the word: "auth": "...".
func findAuthField(v view, at int, found []span) []span {
	end := at + len(`"auth`)
	if v.quote(end) == end {
		return found
	}
	start, ok := v.value(at, end)
	if !ok {
		return found
	}
	end = base64Std.padded(v.text, start, v.hi)
	if isBasic(v.text[start:end]) {
		found = append(found, span{start, end, "basic-auth"})
	}
	return found
}

func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// findBearer removes a bearer token that stands outside a header. The word is
// common, so the token must look random.
func findBearer(v view, at int, found []span) []span {
	end := at + len("bearer")
	start := v.skip(end, " \t")
	if start == end || !v.begins(at, wordEdge) {
		return found
	}
	start = v.quote(start)
	end = credential.padded(v.text, start, v.hi)
	if random(v.text[start:end]) {
		found = append(found, span{start, end, "bearer-token"})
	}
	return found
}

// The parts of a cookie pair. A value is judged by its bytes before the first
// that may part another name from its value, so that no two judge the same.
var (
	cookieName  = newClass("0-9A-Za-z_.-")
	cookieHead  = newClass("!#$%&*+./0-9?@A-Z^_a-z|~-")
	cookieValue = newClass("!#$%&*+./0-9:=?@A-Z^_a-z|~-")
)

// sessionNames are parts of the names of cookies that let their holder in.
var sessionNames = []string{"sess", "sid", "auth", "token", "jwt", "login", "remember", "csrf", "xsrf", "ticket", "secret"}

// findCookies removes the values of session cookies in a Cookie or Set-Cookie
// header.
func findCookies(v view, at int, found []span) []span {
	const (
		longest    = 8 << 10
		maxSkipped = 1 << 10 // of a value that stays
	)
	v.hi = min(v.hi, at+longest)
	at = v.quote(at + len("cookie"))
	at = v.skip(v.skip(at, " \t"), ":=")
	at = v.quote(v.skip(at, " \t"))
	for at < v.hi {
		end := cookieName.run(v.text, at, v.hi)
		name := strings.ToLower(v.text[at:end])
		if !v.has(end, "=") || strings.Contains(name, "cookie") {
			break // an anchor of its own goes on from here
		}
		start := end + 1
		head := v.text[start:cookieHead.run(v.text, start, v.hi)]
		if containsAny(name, sessionNames) && chosen(head) {
			at = cookieValue.run(v.text, start, v.hi)
			found = append(found, span{start, at, "session-cookie"})
		} else {
			at = cookieValue.run(v.text, start, min(v.hi, start+maxSkipped))
		}
		next := v.skip(at, "; ")
		if next == at {
			break
		}
		at = next
	}
	return found
}
