package agekey

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"filippo.io/age"

	"github.com/amber-memory/amber"
)

const (
	// Intro is the first line of every age file.
	Intro = "age-encryption.org/v1\n"
	// MaxHeaderBytes bounds the header of a file: room for MaxRecipients of any kind.
	MaxHeaderBytes = 512 << 10

	maxStanzas    = 2 * MaxRecipients
	maxArgs       = 16
	macBytes      = 32
	bodyLine      = 64 // characters in every line of a body but the last
	stanzaBegin   = "-> "
	footerBegin   = "--- "
	amberStanzas  = "amber-"
	greaseStanzas = "-grease"
)

// b64 is the base64 of age: no padding, one spelling.
var b64 = base64.RawStdEncoding.Strict()

// Header is the header of an age file. All of it can be read without a key, and nothing of it is authenticated by
// reading it.
type Header struct {
	Stanzas []Stanza
	Footer  int // where the last line begins, "--- " and the MAC
	Size    int // in bytes, the last line and its end included
}

// Stanza is one part of a header, and where it is in the file.
type Stanza struct {
	age.Stanza
	Begin int // the arrow
	Text  int // the first line of the body, which is base64 in lines of 64 characters
	End   int // behind the last line of the body
}

// ParseHeader reads the header that b begins with; what follows it is not looked at. It accepts no other spelling of a
// header than the one age writes. The error is of kind damaged, or too_new for another version of age.
func ParseHeader(b []byte) (Header, error) {
	const op = "read age header"
	h, err := parseHeader(b[:min(len(b), MaxHeaderBytes)])
	switch {
	case err == nil:
		return h, nil
	case isOtherVersion(b):
		return Header{}, amber.Errorf(amber.KindTooNew, op, "", "the file has another version of age")
	}
	return Header{}, &amber.Error{Op: op, Kind: amber.KindDamaged, Err: err}
}

// isOtherVersion reports whether b begins as a file of another version of age.
func isOtherVersion(b []byte) bool {
	line, _, ok := strings.Cut(string(b[:min(len(b), len(Intro)+8)]), "\n")
	version, isAge := strings.CutPrefix(line, ageIntro+"v")
	return ok && isAge && version != "1" && version != "" && strings.Trim(version, "0123456789") == ""
}

func parseHeader(b []byte) (Header, error) {
	if !bytes.HasPrefix(b, []byte(Intro)) {
		return Header{}, errors.New("not an age file")
	}
	p := parser{b, len(Intro)}
	var h Header
	for {
		h.Footer = p.at
		line, err := p.line()
		if err != nil {
			return Header{}, err
		}
		if mac, ok := strings.CutPrefix(line, footerBegin); ok {
			raw, err := b64.DecodeString(mac)
			if err != nil || len(raw) != macBytes || len(h.Stanzas) == 0 {
				return Header{}, errors.New("the last line of the header is not intact")
			}
			h.Size = p.at
			return h, nil
		}
		if len(h.Stanzas) == maxStanzas {
			return Header{}, fmt.Errorf("the header has more than %d parts", maxStanzas)
		}
		s, err := p.stanza(line, h.Footer)
		if err != nil {
			return Header{}, err
		}
		h.Stanzas = append(h.Stanzas, s)
	}
}

// parser reads lines of a header.
type parser struct {
	b  []byte
	at int
}

func (p *parser) line() (string, error) {
	n := bytes.IndexByte(p.b[p.at:], '\n')
	if n < 0 {
		return "", errors.New("the header is cut off")
	}
	line := string(p.b[p.at : p.at+n])
	if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", errors.New("the header is not text")
	}
	p.at += n + 1
	return line, nil
}

// stanza reads the stanza whose first line has been read.
func (p *parser) stanza(line string, begin int) (Stanza, error) {
	rest, ok := strings.CutPrefix(line, stanzaBegin)
	args := strings.Split(rest, " ")
	if !ok || len(args) > maxArgs {
		return Stanza{}, errors.New("the first line of a stanza in the header is damaged")
	}
	for _, a := range args {
		if a == "" {
			return Stanza{}, errors.New("the first line of a stanza in the header is damaged")
		}
	}
	s := Stanza{Stanza: age.Stanza{Type: args[0], Args: args[1:]}, Begin: begin, Text: p.at}
	for {
		line, err := p.line()
		if err != nil {
			return Stanza{}, err
		}
		raw, err := b64.DecodeString(line)
		if err != nil || len(line) > bodyLine {
			return Stanza{}, errors.New("a part of the header is not intact")
		}
		s.Body = append(s.Body, raw...)
		if len(line) < bodyLine {
			s.End = p.at
			return s, nil
		}
	}
}

// Kinds returns of which kinds the recipients are, in the order of the file. Parts that are no recipients are left out.
func (h Header) Kinds() []Kind {
	var kinds []Kind
	for _, s := range h.Stanzas {
		switch {
		case s.Type == "X25519":
			kinds = append(kinds, X25519)
		case s.Type == "ssh-ed25519", s.Type == "ssh-rsa":
			kinds = append(kinds, SSH)
		case s.Type == "mlkem768x25519":
			kinds = append(kinds, Hybrid)
		case s.Type == "scrypt":
			kinds = append(kinds, Scrypt)
		case strings.HasPrefix(s.Type, amberStanzas), strings.HasSuffix(s.Type, greaseStanzas):
		default:
			kinds = append(kinds, OtherKinds)
		}
	}
	return kinds
}
