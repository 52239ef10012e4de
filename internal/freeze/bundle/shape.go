package bundle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// shape is what the first bytes of a file tell.
type shape struct {
	problem   error // it is no bundle, or its front is not intact
	encrypted bool
	header    agekey.Header // of age
	front     int64         // bytes before the payload
	hasRoom   bool          // there is room for an outer manifest
	outer     *outer        // nil without one that can be read
	outerErr  error         // why it cannot be read
	signature sign.SignatureReport
	before    string // SHA-256 of the age header before the outer manifest
}

// look finds out what a file is by its content. Errors: too_new; those of the file. Damage is kept in the shape.
func look(r io.ReaderAt, size int64) (s shape, err error) {
	front := make([]byte, min(size, agekey.MaxHeaderBytes))
	if _, err := r.ReadAt(front, 0); err != nil && err != io.EOF {
		return s, err
	}
	magic := uint32(0)
	if len(front) >= 4 {
		magic = binary.LittleEndian.Uint32(front)
	}
	switch {
	case bytes.HasPrefix(front, []byte("age-encryption.org/")):
		err = s.age(front)
	case magic == skipMagic:
		err = s.skippable(front)
	case magic == zstdMagic:
	case bytes.HasPrefix(front, []byte("-----BEGIN AGE ENCRYPTED FILE-----")):
		s.problem = errors.New("the file is an age file in ASCII armor, want a binary one: run age --decrypt and encrypt without --armor")
	default:
		s.problem = errors.New("the file is neither compressed with zstd nor encrypted with age")
	}
	return s, err
}

// skippable reads the frame before a plain bundle.
func (s *shape) skippable(front []byte) error {
	if len(front) < skipBytes {
		s.problem = errors.New("the file is cut off")
		return nil
	}
	n := int64(binary.LittleEndian.Uint32(front[4:]))
	if n == 0 || n%outerRoom != 0 || n > maxOuter || n > int64(len(front)-skipBytes) {
		s.problem = errors.New("the frame of the outer manifest is not intact")
		return nil
	}
	s.front, s.hasRoom = skipBytes+n, true
	return s.manifest(front[skipBytes:s.front])
}

// age reads the header of an encrypted bundle.
func (s *shape) age(front []byte) error {
	h, err := agekey.ParseHeader(front)
	switch {
	case amber.KindOf(err) == amber.KindTooNew:
		return err
	case err != nil:
		s.problem = errors.New(reasonOf(err))
		return nil
	}
	s.encrypted, s.header, s.front = true, h, int64(h.Size)
	for i, stanza := range h.Stanzas {
		if stanza.Type != stanzaType {
			continue
		}
		s.hasRoom = true
		if i != len(h.Stanzas)-1 || len(stanza.Args) != 0 {
			s.outerErr = errors.New("the outer manifest is not where it belongs in the age header")
			return nil
		}
		s.before = envelope.Digest(front[:stanza.Begin])
		return s.manifest(stanza.Body)
	}
	return nil
}

// manifest reads the outer manifest.
func (s *shape) manifest(room []byte) error {
	o, sig, err := readOuter(room)
	switch {
	case amber.KindOf(err) == amber.KindTooNew:
		return err
	case err != nil:
		s.outerErr = err
		return nil
	case o.Encrypted != s.encrypted:
		s.outerErr = fmt.Errorf("the outer manifest says encrypted: %v, and the file is not so", o.Encrypted)
		return nil
	}
	s.outer, s.signature = o, sig
	return nil
}

// byPassphrase reports whether a passphrase opens the file.
func (s *shape) byPassphrase() bool {
	return len(s.header.Stanzas) == 1 && slices.Equal(s.header.Kinds(), []agekey.Kind{agekey.Scrypt})
}

// info returns what everybody may know.
func (s *shape) info() wire.BundleInfo {
	info := wire.BundleInfo{Encrypted: s.encrypted}
	for _, k := range s.header.Kinds() {
		info.Recipients = append(info.Recipients, string(k))
	}
	switch {
	case s.hasRoom:
		info.Format = wire.FormatAmber
	case !s.encrypted && s.problem == nil:
		info.Format = wire.FormatNexo
	}
	if o := s.outer; o != nil {
		info.ID, info.Agent, info.Tenant, info.Label, info.CreatedAt = o.ID, o.Agent, o.Tenant, o.Label, o.CreatedAt
		info.Expanded, info.Entries, info.Redacted, info.GitOID = o.ExpandedBytes, o.Entries, o.Redacted, o.GitOID
		info.SignedBy = signedBy(s.signature)
	}
	return info
}

func signedBy(s sign.SignatureReport) string {
	if s.Status != sign.SignatureValid {
		return ""
	}
	return string(s.KeyID)
}
