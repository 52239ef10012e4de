// Package secrettest makes up secrets of every kind that package redact knows,
// for tests that plant them and look where they went. They are made when the
// tests run, so that no file holds anything that looks like a live key.
package secrettest

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Secret is a text with one secret in it.
type Secret struct {
	Rule          string // that removes it
	Before, After string // what gives it away, and stays; empty for one that tells itself
	Value         string // what goes
}

// Text returns the secret with what gives it away.
func (s Secret) Text() string { return s.Before + s.Value + s.After }

// Redacted returns what Text becomes.
func (s Secret) Redacted() string { return s.Before + "[REDACTED:" + s.Rule + "]" + s.After }

// Bare reports whether the form of the secret alone gives it away.
func (s Secret) Bare() bool { return s.Before == "" && s.After == "" }

// Corpus returns one secret of every shape there is a template of, some two
// hundred, every one of them different. The same seed gives the same ones.
func Corpus(seed uint64) []Secret {
	var all []Secret
	for _, t := range Templates() {
		all = append(all, t.Secret(seed))
	}
	return all
}

// Template describes the secrets of one shape. {a20} is replaced by 20 random
// bytes of class a; «» hold the secret where it is not the whole.
type Template struct{ Rule, Text string }

// Templates returns all templates, at least two for every rule that can have
// them.
func Templates() []Template {
	return slices.Concat(keyTemplates, serviceTemplates, settingTemplates)
}

var classes = map[byte]string{
	'a': digit + upper + small,
	'b': digit + upper + small + "+/",
	'd': digit,
	'h': digit + "abcdef",
	'l': digit + small,
	'u': digit + upper + small + "_-",
	'U': digit + upper,
	'x': digit + upper + small + "!#$%*",
}

const (
	digit = "0123456789"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	small = "abcdefghijklmnopqrstuvwxyz"
)

var slot = regexp.MustCompile(`\{(?:([abdhluUx])([0-9]+)|uuid|([a-z]{3,}))\}`)

// made are slots that a random byte of a class cannot fill.
var made = map[string]func(*rand.Rand) string{
	"bech": func(r *rand.Rand) string { return pick(r, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58) },
	"token": func(r *rand.Rand) string { // of Amber
		const base32 = small + "234567"
		return pick(r, base32, 8) + "_" + pick(r, base32, 52)
	},
	"jwt": func(r *rand.Rand) string {
		part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
		return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"sub":"`+pick(r, digit, 10)+`","iat":1516239022}`) + "." + pick(r, classes['u'], 43)
	},
	"basic": func(r *rand.Rand) string {
		return base64.StdEncoding.EncodeToString([]byte("deploy:" + pick(r, classes['a'], 14)))
	},
	"pem": func(r *rand.Rand) string {
		var b strings.Builder
		for range 12 {
			b.WriteString(pick(r, classes['b'], 64) + "\n")
		}
		return b.String() + pick(r, classes['b'], 22) + "==\n"
	},
	"encpem": func(r *rand.Rand) string {
		plain := "-----BEGIN RSA " + "PRIVATE KEY-----\n" + pick(r, classes['b'], 300) + "\n-----END RSA " + "PRIVATE KEY-----\n"
		return base64.StdEncoding.EncodeToString([]byte(plain))
	},
	"snowflake": func(r *rand.Rand) string {
		return base64.RawStdEncoding.EncodeToString([]byte("10" + pick(r, digit, 17)))
	},
	"padding": func(*rand.Rand) string { return strings.Repeat("A", 21) },
}

// Secret makes a secret of the template. The same seed gives the same one.
func (t Template) Secret(seed uint64) Secret {
	h := fnv.New64a()
	fmt.Fprint(h, t.Rule, t.Text)
	r := rand.New(rand.NewPCG(h.Sum64(), seed))
	text := slot.ReplaceAllStringFunc(t.Text, func(s string) string { return fill(r, s) })
	if before, rest, ok := strings.Cut(text, "«"); ok {
		secret, after, _ := strings.Cut(rest, "»")
		return Secret{Rule: t.Rule, Before: before, After: after, Value: secret}
	}
	return Secret{Rule: t.Rule, Value: text}
}

// fill returns what stands in a slot.
func fill(r *rand.Rand, s string) string {
	m := slot.FindStringSubmatch(s)
	switch {
	case m[1] != "":
		n, err := strconv.Atoi(m[2])
		if err != nil {
			panic(err)
		}
		return pick(r, classes[m[1][0]], n)
	case m[3] != "":
		return made[m[3]](r)
	}
	return strings.Join([]string{
		pick(r, classes['h'], 8), pick(r, classes['h'], 4), pick(r, classes['h'], 4), pick(r, classes['h'], 4), pick(r, classes['h'], 12),
	}, "-")
}

func pick(r *rand.Rand, from string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = from[r.IntN(len(from))]
	}
	return string(b)
}
