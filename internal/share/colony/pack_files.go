package colony

import (
	"cmp"
	"context"
	"encoding/base64"
	"time"

	"github.com/amber-memory/amber"
)

// assemble makes the files of a payload. add adds members to the manifest.
func (d Draft) assemble(ctx context.Context, plaintext, payload []byte, add func(*value, []string)) (Packed, error) {
	chunks := d.cut(base64.StdEncoding.EncodeToString(payload))
	p := Packed{Parts: make([]NamedText, len(chunks))}
	for i, chunk := range chunks {
		p.Parts[i] = d.part(i, chunk)
	}
	m := d.manifest(plaintext, base64.StdEncoding.EncodedLen(len(payload)), p.Parts)
	add(&m, chunks)
	if d.Signer != nil {
		s, err := signManifest(ctx, d.Signer, m)
		if err != nil {
			return Packed{}, err
		}
		m.add("signature", s)
	}
	p.Manifest = NamedText{ManifestName(d.Label, d.ID), string(m.Plain())}
	parsed, err := parseManifest(p.Manifest.Content)
	p.Info = parsed.Info
	return p, err
}

// cut cuts the blob into what each part holds.
func (d Draft) cut(blob string) []string {
	size := cmp.Or(d.PartChars, PartChars)
	var chunks []string
	for len(blob) > size {
		chunks, blob = append(chunks, blob[:size]), blob[size:]
	}
	return append(chunks, blob)
}

func (d Draft) part(seq int, chunk string) NamedText {
	v := newObject()
	v.add("format", newString(Format))
	v.add("snapshot_id", newString(string(d.ID)))
	v.add("seq", newCount(int64(seq)))
	v.add("b64", newString(chunk))
	return NamedText{PartName(d.Label, d.ID, seq), string(v.Plain())}
}

// manifest makes the members of the manifest that the original client writes.
func (d Draft) manifest(plaintext []byte, blobChars int, parts []NamedText) value {
	names, files := d.Documents.Names(), make([]string, len(parts))
	if len(d.Recipients) > 0 {
		names = nil
	}
	for i, p := range parts {
		files[i] = p.Name
	}
	codec := codecPlain
	if len(d.Recipients) > 0 {
		codec = codecAge
	}
	v := newObject()
	v.add("format", newString(Format))
	v.add("snapshot_id", newString(string(d.ID)))
	v.add("label", newString(d.Label))
	v.add("created_at", newString(d.CreatedAt.UTC().Format(timeLayout)))
	v.add("codec", newString(codec))
	v.add("doc_names", newStrings(names))
	v.add("plaintext_sha256", newString(digest(plaintext)))
	v.add("part_count", newCount(int64(len(parts))))
	v.add("part_files", newStrings(files))
	v.add("byte_size", newCount(int64(len(plaintext))))
	v.add("blob_chars", newCount(int64(blobChars)))
	return v
}

// additions adds what Amber tells more. The original client ignores it, and its
// signature covers it.
func (d Draft) additions(v *value, chunks []string) {
	if d.LabelRaw != "" {
		v.add("label_raw", newString(d.LabelRaw))
	}
	if d.Parent != "" {
		v.add("parent", newString(string(d.Parent)))
	}
	if d.Counter > 0 {
		v.add("counter", newCount(d.Counter))
	}
	sums := make([]string, len(chunks))
	for i, chunk := range chunks {
		sums[i] = amber.ContentDigest(chunk)
	}
	v.add("part_sha256", newStrings(sums))
	if len(d.Recipients) > 0 {
		v.add("encryption", encryptionNote())
	}
}

// Latest makes the pointer of a label that names a snapshot.
func Latest(label string, id SnapshotID, at time.Time) NamedText {
	v := newObject()
	v.add("format", newString(latestFormat))
	v.add("label", newString(label))
	v.add("snapshot_id", newString(string(id)))
	v.add("manifest_file", newString(ManifestName(label, id)))
	v.add("updated_at", newString(at.UTC().Format(timeLayout)))
	return NamedText{LatestName(label), string(v.Plain())}
}
