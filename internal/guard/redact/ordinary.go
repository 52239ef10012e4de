package redact

import (
	"slices"
	"strings"
)

// dummies are parts of made-up keys. They are few: each is a chance to take a
// real key for a made-up one.
var dummies = []string{"xxxx", "example", "placeholder", "redacted", "dummy", "your"}

// placeholders are further parts of values that take the place of a secret and
// are none.
var placeholders = []string{
	"sample", "changeme", "change_me", "change-me", "changeit", "replace", "insert", "notreal", "not-real", "not_a_real", "fake",
	"todo", "secret_here", "key_here", "key-here", "keyhere", "token_here", "token-here", "****", "....", "test", "mock", "foobar",
	"sha256", "sha-256", "sha512", "sha-512", "argon2", "bcrypt", "pbkdf2", // how to hash one
}

// secretWords are parts of the names of secrets.
var secretWords = []string{
	"password", "passwd", "secret", "token", "credential", "apikey", "api_key", "api-key", "private_key", "privatekey", "access_key", "accesskey",
}

// isDummy reports whether a key says that it is a placeholder and not a key.
func isDummy(key string) bool { return speaks(key, dummies) }

// speaks reports whether a text contains one of words. Chance makes a short
// word in some letters of a long key, small and capital ones mixed: a person
// does not write so.
func speaks(text string, words []string) bool {
	folded := strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool {
		if len(w) > 4 {
			return strings.Contains(folded, w)
		}
		upper := strings.ToUpper(w)
		return strings.Contains(text, w) || strings.Contains(text, upper) || strings.Contains(text, upper[:1]+w[1:]) && len(text) < 20
	})
}

// saysPlaceholder reports whether a value says of itself that it is no secret.
func saysPlaceholder(value string) bool {
	return speaks(value, dummies) || speaks(value, placeholders)
}

// namesSecret reports whether a value speaks of a secret, as the name of one
// does.
func namesSecret(value string) bool { return containsAny(strings.ToLower(value), secretWords) }

// containsAny reports whether s contains one of parts.
func containsAny(s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// ordinary reports whether a value has a form that is public whatever its name
// says: a placeholder, variable, version, date, address, path or number.
func ordinary(s string) bool {
	switch {
	case s == "" || isReference(s) || s[len(s)-1] == '*':
		return true
	case filled(s) || saysPlaceholder(s):
		return true
	case isVersion(s) || isDate(s) || isAddress(s) || isPath(s) || isNumber(s):
		return true
	}
	return false
}

// isReference tells a variable, a placeholder of a template, a file that is
// named and a pointer from a secret that happens to begin like one: nothing else
// than a name follows.
func isReference(s string) bool {
	if strings.IndexByte("$%@*", s[0]) < 0 {
		return false
	}
	rest := s[1:]
	if len(rest) < 3 || strings.IndexByte("{($*%", rest[0]) >= 0 {
		return true
	}
	if s[0] == '%' {
		rest = strings.TrimSuffix(rest, "%")
	}
	for i := range len(rest) {
		if !wordByte.has[rest[i]] && strings.IndexByte(".:-/\\[]'\"<>@", rest[i]) < 0 {
			return false
		}
	}
	return true
}

// identifies reports whether a value has a form that names things more often
// than it opens them: a UUID, a git commit, a hexadecimal number too short for
// a key.
func identifies(s string) bool {
	if hexAny.run(s, 0, len(s)) == len(s) {
		return len(s) == 40 || len(s) < 32
	}
	return isUUID(s)
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if !hexAny.has[s[i]] {
			return false
		}
	}
	return true
}

// isVersion recognises v1.2.3 and what follows it.
func isVersion(s string) bool {
	s = strings.TrimPrefix(s, "v")
	major := digits.run(s, 0, len(s))
	if major == 0 || major == len(s) || s[major] != '.' {
		return false
	}
	minor := digits.run(s, major+1, len(s))
	return minor > major+1 && (minor == len(s) || !wordByte.has[s[minor]])
}

// isDate recognises 2006-01-02 and what follows it.
func isDate(s string) bool {
	if len(s) < len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return false
	}
	return digits.run(s, 0, 4) == 4 && digits.run(s, 5, 7) == 7 && digits.run(s, 8, 10) == 10
}

// isAddress recognises a mail address.
func isAddress(s string) bool {
	user, host, ok := strings.Cut(s, "@")
	dot := strings.LastIndexByte(host, '.')
	return ok && dot > 0 && dotted.run(host, 0, len(host)) == len(host) &&
		dotted.run(user, 0, len(user)) == len(user) && len(host)-dot <= 7
}

// isPath tells a path from base64 with slashes: it begins like one and has
// words in it.
func isPath(s string) bool {
	for _, start := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(s, start) && wordShare(s) > 0.2 {
			return true
		}
	}
	return false
}

func isNumber(s string) bool {
	for i := range len(s) {
		if !digits.has[s[i]] && strings.IndexByte("+-._eE", s[i]) < 0 {
			return false
		}
	}
	return true
}
