package colony

import (
	"cmp"
	"context"
	"strings"

	"github.com/amber-memory/amber"
)

// maxBlob bounds the characters of a blob, given the bound of the plaintext. Compressed text is hardly ever longer than
// the plaintext; this bound leaves room.
func maxBlob(most int64) int64 { return 2*maxBytes(most) + 1<<20 }

// blob puts together what the parts hold.
func (r *reading) blob(ctx context.Context, parts []string) (string, error) {
	if len(parts) != len(r.m.PartFiles) {
		return "", r.fail("%d parts, want %d", len(parts), len(r.m.PartFiles))
	}
	var blob strings.Builder
	for seq, content := range parts {
		if err := ctx.Err(); err != nil {
			return "", &amber.Error{Op: "read snapshot", Kind: amber.KindOf(err), ID: r.m.subject(r.o), Err: err}
		}
		chunk, err := r.part(seq, content)
		if err != nil {
			return "", err
		}
		blob.WriteString(chunk)
		if int64(blob.Len()) > maxBlob(r.o.MaxBytes) {
			return "", tooBig(r.m.subject(r.o), maxBytes(r.o.MaxBytes))
		}
	}
	if int64(blob.Len()) != r.m.Info.BlobChars {
		if err := r.object("the blob_chars are not those of the parts"); err != nil {
			return "", err
		}
	}
	return blob.String(), nil
}

// part reads a part and returns what it holds.
func (r *reading) part(seq int, content string) (string, error) {
	name := r.m.PartFiles[seq]
	v, err := decodeJSON([]byte(content))
	if err != nil {
		return "", damaged(name, "%w", err)
	}
	b64, _ := v.member("b64")
	chunk, ok := b64.str()
	if !ok {
		return "", damaged(name, "the part is empty")
	}
	if r.m.PartSHA256 != nil && amber.ContentDigest(chunk) != r.m.PartSHA256[seq] {
		if !r.o.Tolerant {
			return "", damaged(name, "the part is not what was uploaded")
		}
		r.broken = cmp.Or(r.broken, name)
		r.checks.Relaxed = append(r.checks.Relaxed, "the digest of "+name+" is another")
	}
	return chunk, r.checkPart(v, seq, name)
}

// checkPart checks what a part declares.
func (r *reading) checkPart(v value, seq int, name string) error {
	d := members{of: v}
	if format := d.text("format"); format != Format {
		d.object("the format is " + quote(format))
	}
	if id := d.text("snapshot_id"); id != r.m.subject(r.o) {
		d.object("the snapshot_id is " + quote(id))
	}
	if n, ok := parseName(name); d.count("seq") != int64(n.Seq) || !ok {
		d.object("the seq is another")
	}
	if v.Duplicates() {
		d.object("a member appears twice")
	}
	for _, why := range d.objections {
		if err := r.object(name + ": " + why); err != nil {
			return err
		}
	}
	return nil
}
