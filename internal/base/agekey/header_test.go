package agekey_test

import (
	"bytes"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/test/must"
)

// marker is a stanza that no identity opens.
type marker struct{ name string }

func (m marker) Wrap([]byte) ([]*age.Stanza, error) {
	return []*age.Stanza{{Type: m.name, Args: []string{"1"}, Body: bytes.Repeat([]byte{7}, 96)}}, nil
}

// encrypted returns an age file.
func encrypted(t testing.TB, to ...age.Recipient) []byte {
	t.Helper()
	var b bytes.Buffer
	w := must.Get(age.Encrypt(&b, to...))(t)
	must.Do(t, w.Close())
	return b.Bytes()
}

func TestHeadersTellTheKindsOfRecipients(t *testing.T) {
	t.Parallel()
	pass, _, err := agekey.Passphrase("x")
	must.Do(t, err)
	pass.(*age.ScryptRecipient).SetWorkFactor(2)
	for _, tt := range []struct {
		name string
		to   []age.Recipient
		want []agekey.Kind
	}{
		{"x25519", []age.Recipient{newX25519(t).Recipient(), newX25519(t).Recipient()}, []agekey.Kind{agekey.X25519, agekey.X25519}},
		{"hybrid", []age.Recipient{newHybrid(t).Recipient()}, []agekey.Kind{agekey.Hybrid}},
		{"passphrase", []age.Recipient{pass}, []agekey.Kind{agekey.Scrypt}},
		{"what is no recipient", []age.Recipient{marker{"amber-x"}, marker{"a-grease"}, newX25519(t).Recipient()}, []agekey.Kind{agekey.X25519}},
		{"a plugin", []age.Recipient{marker{"yubikey"}}, []agekey.Kind{agekey.OtherKinds}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := must.Get(agekey.ParseHeader(encrypted(t, tt.to...)))(t).Kinds()
			must.Equal(t, "kinds", got, tt.want)
		})
	}
}

func TestAHeaderTellsWhereItsPartsAre(t *testing.T) {
	t.Parallel()
	b := encrypted(t, newX25519(t).Recipient(), marker{"amber-x"})
	h := must.Get(agekey.ParseHeader(b))(t)
	s := h.Stanzas[1]
	must.Equal(t, "first line", string(b[s.Begin:s.Text]), "-> amber-x 1\n")
	must.Equal(t, "characters of the body", len(b[s.Text:s.End]), 64+1+64+1+1)
	must.Equal(t, "the body", s.Body, bytes.Repeat([]byte{7}, 96))
	if h.Footer != s.End || !bytes.HasPrefix(b[h.Footer:], []byte("--- ")) || b[h.Size-1] != '\n' {
		t.Errorf("footer at %d, end at %d", h.Footer, h.Size)
	}
	must.Equal(t, "bytes behind the header", len(b)-h.Size, 16+16)
}

func TestHeadersThatAreNotIntactAreDamaged(t *testing.T) {
	t.Parallel()
	b := string(encrypted(t, newX25519(t).Recipient()))
	h := must.Get(agekey.ParseHeader([]byte(b)))(t)
	for n := range h.Size {
		if _, err := agekey.ParseHeader([]byte(b[:n])); amber.KindOf(err) != amber.KindDamaged && amber.KindOf(err) != amber.KindTooNew {
			t.Errorf("cut at %d: got %v", n, err)
		}
	}
	for name, text := range map[string]string{
		"no stanzas":      agekey.Intro + b[h.Footer:],
		"control":         strings.Replace(b, "-> X", "-> \x01X", 1),
		"carriage return": strings.Replace(b, "\n-> ", "\r\n-> ", 1),
		"two spaces":      strings.Replace(b, "-> X", "->  X", 1),
		"long line":       agekey.Intro + "-> a\n" + strings.Repeat("A", 68) + "\n\n" + b[h.Footer:],
		"padding":         agekey.Intro + "-> a\nAA==\n" + b[h.Footer:],
		"other spelling":  agekey.Intro + "-> a\nAB\n" + b[h.Footer:],
		"many":            agekey.Intro + strings.Repeat("-> a\n\n", 1000) + b[h.Footer:],
		"many arguments":  agekey.Intro + "-> " + strings.Repeat("a ", 1000) + "a\n\n" + b[h.Footer:],
		"endless":         agekey.Intro + "-> a\n" + strings.Repeat(strings.Repeat("A", 64)+"\n", 10_000),
	} {
		must.Fail(agekey.ParseHeader([]byte(text)))(t, name, amber.KindDamaged)
	}
	must.Fail(agekey.ParseHeader([]byte("age-encryption.org/v2\n")))(t, "version 2", amber.KindTooNew)
}

func FuzzParseHeader(f *testing.F) {
	f.Add(encrypted(f, newX25519(f).Recipient(), marker{"amber-x"}))
	f.Add([]byte(agekey.Intro + "-> a\n\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := agekey.ParseHeader(b)
		if err != nil {
			return
		}
		at := len(agekey.Intro)
		for _, s := range h.Stanzas {
			if s.Begin != at || s.Text <= s.Begin || s.End <= s.Text {
				t.Fatalf("a part from %d by %d to %d, the one before ends at %d", s.Begin, s.Text, s.End, at)
			}
			at = s.End
		}
		if h.Footer != at || h.Size <= h.Footer || h.Size > len(b) {
			t.Fatalf("footer at %d, size %d of %d", h.Footer, h.Size, len(b))
		}
		// Whatever this reader accepts, age reads too, and in the same way.
		if raw := must.Get(age.ExtractHeader(bytes.NewReader(b)))(t); !bytes.Equal(raw, b[:h.Size]) {
			t.Fatal("age reads it otherwise")
		}
	})
}
