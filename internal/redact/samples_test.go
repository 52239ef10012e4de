package redact_test

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// sample is a text with one secret in it. The secrets are made up when the
// tests run, so that no file holds anything that looks like a live key.
type sample struct {
	rule          string
	before, after string // what stays
	secret        string
}

func (s sample) text() string { return s.before + s.secret + s.after }

func (s sample) redacted() string { return s.before + "[REDACTED:" + s.rule + "]" + s.after }

// bare reports whether the secret tells itself.
func (s sample) bare() bool { return s.before == "" && s.after == "" }

// template describes the samples of a rule. {a20} stands for 20 random bytes
// of class a; «» hold the secret where it is not the whole.
type template struct{ rule, text string }

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

// samples makes n samples of every template. The same template always gives
// the same ones.
func samples(tb testing.TB, n int) []sample {
	tb.Helper()
	var all []sample
	for _, group := range [][]template{keyTemplates, serviceTemplates, settingTemplates} {
		for _, t := range group {
			for i := range n {
				all = append(all, t.sample(i))
			}
		}
	}
	return all
}

func (t template) sample(seed int) sample {
	h := fnv.New64a()
	fmt.Fprint(h, t.rule, t.text)
	r := rand.New(rand.NewPCG(h.Sum64(), uint64(seed)))
	text := slot.ReplaceAllStringFunc(t.text, func(s string) string {
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
	})
	if before, rest, ok := strings.Cut(text, "«"); ok {
		secret, after, _ := strings.Cut(rest, "»")
		return sample{t.rule, before, after, secret}
	}
	return sample{rule: t.rule, secret: text}
}

func pick(r *rand.Rand, from string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = from[r.IntN(len(from))]
	}
	return string(b)
}
