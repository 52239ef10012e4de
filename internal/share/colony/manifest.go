package colony

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// manifest is what the file of a snapshot declares about it.
type manifest struct {
	// Info is as it is declared; a member that makes no sense is left at zero.
	Info       Info
	Codec      string
	PartFiles  []string
	PartSHA256 []string // hexadecimal digests of what the parts hold; nil when it does not tell

	value      value
	objections []string
}

// parseManifest reads a manifest. It must be of this format and have the digest
// and the parts; whatever else is wrong with it is left to [manifest.Check], so
// that a tolerant reader can go on. Errors: damaged, too_new.
func parseManifest(content string) (manifest, error) {
	none := manifest{Info: Info{DocNames: []string{}}}
	fail := func(why error) (manifest, error) {
		return none, &amber.Error{Op: "read manifest", Kind: amber.KindDamaged, Err: why}
	}
	v, err := decodeJSON([]byte(content))
	if err != nil {
		return fail(err)
	}
	r := members{of: v}
	format := r.text("format")
	switch {
	case v.kind != kindObject:
		return fail(errors.New("want a JSON object"))
	case isNewer(format, Format):
		return none, amber.Errorf(amber.KindTooNew, "read manifest", "", "the format is %s, which is newer than this program", quote(format))
	case format != Format:
		return fail(fmt.Errorf("the format is %s, want %s", quote(format), Format))
	}
	m := manifest{value: v, PartFiles: r.texts("part_files")}
	m.Info.PlaintextSHA256 = r.text("plaintext_sha256")
	if len(r.objections) > 0 {
		return fail(errors.New(r.objections[0]))
	}
	if !isDigest(m.Info.PlaintextSHA256) {
		return fail(fmt.Errorf("plaintext_sha256 is %s, want sha256: and 64 digits", quote(m.Info.PlaintextSHA256)))
	}
	m.declared(&r)
	m.added(&r)
	if v.Duplicates() {
		r.object("a member appears twice")
	}
	m.objections = r.objections
	return m, nil
}

// declared reads the members that the original client writes.
func (m *manifest) declared(r *members) {
	m.Info.Label = r.text("label")
	m.Info.CreatedAt = r.text("created_at")
	m.Info.DocNames = r.texts("doc_names")
	m.Info.PartCount = int(min(r.count("part_count"), math.MaxInt32))
	m.Info.ByteSize = r.count("byte_size")
	m.Info.BlobChars = r.count("blob_chars")
	m.Codec = r.text("codec")
	id, err := ParseSnapshotID(r.text("snapshot_id"))
	if m.Info.ID = id; err != nil {
		r.object("the snapshot_id is not one")
	}
	s, signed := signatureOf(m.value)
	m.Info.Signed = signed
	if key, err := sign.ParseKeyID(string(s.KeyID)); err == nil {
		m.Info.Issuer = key
	}
	m.check(r)
}

// check notes what members say against one another.
func (m *manifest) check(r *members) {
	if !isTime(m.Info.CreatedAt) {
		r.object("the created_at is " + quote(m.Info.CreatedAt))
	}
	if m.Info.PartCount != len(m.PartFiles) {
		r.object("the part_count is not the number of part_files")
	}
	if !slices.IsSorted(m.Info.DocNames) || len(slices.Compact(slices.Clone(m.Info.DocNames))) != len(m.Info.DocNames) {
		r.object("the doc_names are not sorted")
	}
}

// added reads the members that Amber adds.
func (m *manifest) added(r *members) {
	m.lineage(r)
	if r.has("part_sha256") {
		m.PartSHA256 = r.texts("part_sha256")
		isWrong := func(s string) bool { return !isHex(s) }
		if len(m.PartSHA256) != len(m.PartFiles) || slices.ContainsFunc(m.PartSHA256, isWrong) {
			r.object("the part_sha256 are not a digest for each part")
			m.PartSHA256 = nil
		}
	}
	m.Info.Encrypted = r.has("encryption") || m.Codec == codecAge
	want := codecPlain
	if m.Info.Encrypted {
		want = codecAge
	}
	if m.Codec != want {
		r.object("the codec is " + quote(m.Codec))
	}
	if m.Info.Encrypted && len(m.Info.DocNames) > 0 {
		r.object("the doc_names of an encrypted snapshot are told")
	}
}

// isNewer reports whether a format is a later one of the same family.
func isNewer(format, known string) bool {
	family := known[:len(known)-1] // it ends in 1
	version, ok := strings.CutPrefix(format, family)
	n, err := strconv.ParseUint(version, 10, 31)
	return ok && err == nil && n > 1
}

// isTime reports whether s is a time as the files have it: UTC, to the second.
func isTime(s string) bool {
	t, err := time.Parse(timeLayout, s)
	return err == nil && t.Format(timeLayout) == s
}

// members reads the members of an object and notes what is wrong with them.
type members struct {
	of         value
	objections []string
}

func (r *members) object(why string) { r.objections = append(r.objections, why) }

// has reports whether a member is there and not null.
func (r *members) has(name string) bool {
	m, _ := r.of.member(name)
	return m.kind != kindNull
}

func (r *members) text(name string) string {
	m, _ := r.of.member(name)
	s, ok := m.str()
	if !ok {
		r.object("the " + name + " is not a text")
	}
	return s
}

func (r *members) texts(name string) []string {
	m, _ := r.of.member(name)
	l, ok := m.strings()
	if !ok {
		r.object("the " + name + " are not a list of texts")
		return []string{}
	}
	return l
}

func (r *members) count(name string) int64 {
	m, _ := r.of.member(name)
	n, ok := m.count()
	if !ok {
		r.object("the " + name + " is not a number")
		return 0
	}
	return n
}
