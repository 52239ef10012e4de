package agekey

import (
	"fmt"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/amber-memory/amber"
)

// Kind is a kind of key.
type Kind string

// The kinds. Recipients are of the first three; the header of a file may name all of them.
const (
	X25519     Kind = "x25519"
	SSH        Kind = "ssh"
	Hybrid     Kind = "hybrid" // ML-KEM-768 and X25519
	Scrypt     Kind = "passphrase"
	OtherKinds Kind = "other" // a plugin's, or one of a later age
)

const (
	// MaxRecipients is how many recipients a thing may have.
	MaxRecipients = 64
	// maxKeyText bounds the text of one public key: a hybrid key has 1959 characters.
	maxKeyText = 4096

	secretPrefix = "AGE-SECRET-KEY-"
	hybridPrefix = "age1pq1"
	agePrefix    = "age1"
)

// Recipient is a public key that data is encrypted to.
type Recipient struct {
	age.Recipient
	Text string // the public key in its one spelling; an SSH key without its comment
	Kind Kind
}

// ParseRecipient reads a public key: "age1…", "age1pq1…", "ssh-ed25519 AAAA… comment" or "ssh-rsa AAAA… comment".
// The error is of kind invalid.
func ParseRecipient(s string) (Recipient, error) {
	s = strings.TrimSpace(s)
	switch {
	case len(s) > maxKeyText:
		return badRecipient(fmt.Sprintf("key has %d characters, want at most %d", len(s), maxKeyText))
	case strings.ContainsAny(s, "\r\n"):
		return badRecipient("key has more than one line, want one line")
	case strings.HasPrefix(strings.ToUpper(s), secretPrefix):
		return badRecipient("key is a secret key; want the public key, which begins with age1")
	case strings.HasPrefix(s, hybridPrefix):
		r, err := age.ParseHybridRecipient(s)
		if err != nil {
			return badRecipient("key is damaged")
		}
		return Recipient{r, r.String(), Hybrid}, nil
	case strings.HasPrefix(s, agePrefix):
		r, err := age.ParseX25519Recipient(s)
		if err != nil {
			return badRecipient("key is damaged, or needs a plugin of age")
		}
		return Recipient{r, r.String(), X25519}, nil
	case strings.HasPrefix(s, "ssh-"):
		return parseSSHRecipient(s)
	}
	return badRecipient("key has an unknown type: want age1…, age1pq1…, ssh-ed25519 or ssh-rsa")
}

// ParseRecipients reads public keys. Doubles are dropped, the order is kept. The error is of kind invalid, also when
// hybrid keys stand beside others.
func ParseRecipients(list []string) ([]Recipient, error) {
	var out []Recipient
	for i, s := range list {
		r, err := ParseRecipient(s)
		if err != nil {
			return nil, fmt.Errorf("recipient %d: %w", i+1, err)
		}
		if !slices.ContainsFunc(out, func(o Recipient) bool { return o.Text == r.Text }) {
			out = append(out, r)
		}
		if len(out) > MaxRecipients {
			return nil, invalid("check recipients", fmt.Sprintf("more than %d recipients", MaxRecipients))
		}
	}
	return out, checkMix(out)
}

func checkMix(list []Recipient) error {
	hybrid := 0
	for _, r := range list {
		if r.Kind == Hybrid {
			hybrid++
		}
	}
	if hybrid != 0 && hybrid != len(list) {
		return invalid("check recipients", fmt.Sprintf(
			"%d of %d are post-quantum (age1pq1…): what is encrypted to the others too is only as safe as they are; use one kind", hybrid, len(list)))
	}
	return nil
}

// Ages returns the recipients as age takes them.
func Ages(list []Recipient) []age.Recipient {
	out := make([]age.Recipient, len(list))
	for i, r := range list {
		out[i] = r.Recipient
	}
	return out
}

func badRecipient(why string) (Recipient, error) {
	return Recipient{}, invalid("parse recipient", why)
}

func invalid(op, why string) error { return amber.Errorf(amber.KindInvalid, op, "", "%s", why) }
