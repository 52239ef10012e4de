package repo_test

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"filippo.io/age"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// encryptedFolder holds the objects of an encrypted repository. It cannot be
// written again byte for byte: delete it, and run the tests with -update, to make
// another one.
const encryptedFolder = "testdata/v1-encrypted"

// writeEncrypted makes that repository: the blobs of the plain vector, and a
// snapshot.
func writeEncrypted(t *testing.T) *memory {
	t.Helper()
	target, s := storeOn(t, newEncrypted(t))
	fill(t, s.repo, vector()...)
	s.take(t, ada, "Grüße")
	return target
}

func encryptedVector(t *testing.T) *memory {
	t.Helper()
	stored := newMemory()
	must.Do(t, readFolder(encryptedFolder, stored))
	return stored
}

// TestEncryptedVector reads an encrypted repository that an earlier Amber wrote.
func TestEncryptedVector(t *testing.T) {
	if _, err := os.Stat(encryptedFolder); *update && err != nil {
		kept(t, encryptedFolder, writeEncrypted(t))
	}
	target := encryptedVector(t)
	s := newStore(t, target)
	if s.repo.Locked() || s.repo.KeySerial() != 1 {
		t.Fatal("it does not open", s.repo.Problems())
	}
	readAll(t, s.repo, vector())
	clean(t, s.repo)
	l, err := s.catalog.List(ctx, ada)
	if err != nil || len(l) != 1 {
		t.Fatal(err, l)
	}
	must.Equal(t, "label", must.Get(s.repo.Inner(ctx, l[0].Manifest))(t).Label, "Grüße")
	s.whole(t, l[0].Manifest)
}

// TestTheEncryptedVectorIsWhatTheDocumentSays opens it with nothing but
// docs/format/repository.md.
func TestTheEncryptedVectorIsWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	target := encryptedVector(t)
	record := target.objects["keys/00000001.json"]
	doc := must.Get(os.ReadFile("../../../docs/format/repository.md"))(t)
	if !strings.Contains(strings.ReplaceAll(string(doc), "\r\n", "\n"), string(record)) {
		t.Error("the document does not show the key record")
	}
	master, name := masterOf(t, record)
	if !strings.Contains(string(doc), hex.EncodeToString(master)) || !strings.Contains(string(doc), name) {
		t.Error("the document does not show the key")
	}
	derive := func(purpose string, n int) []byte {
		return must.Get(hkdf.Key(sha256.New, master, nil, "amber repository 1 "+purpose, n))(t)
	}
	must.Equal(t, "the name of the key", hex.EncodeToString(derive("name", 8)), name)
	aead := must.Get(chacha20poly1305.NewX(derive("data", 32)))(t)
	keyed := func(parts ...[]byte) repo.ID {
		h := hmac.New(sha256.New, derive("ids", 32))
		for _, p := range parts {
			h.Write(p)
		}
		return repo.ID(h.Sum(nil))
	}
	file := keyed([]byte("amber blob 1\x00\x03"), []byte("Grüße\n"))
	must.Hold(t, strings.Contains(string(doc), file.String()), "the document does not show the id %v", file)
	page := vector()[2].data
	one, two := sha256.Sum256(page[:512]), sha256.Sum256(page[512:])
	pages := keyed([]byte("amber pages 1\x00"), binary.LittleEndian.AppendUint32(nil, 512), one[:], two[:])
	found := map[repo.ID]bool{}
	for _, pack := range target.names("packs/") {
		f := forgeOf(t, target, pack)
		for i, e := range f.items {
			b := f.data[i]
			if e.zero != 1 || hex.EncodeToString(b[:8]) != name {
				t.Fatalf("blob %v is not sealed with the key", e.id)
			}
			bound := append([]byte("amber sealed 1\x00"), e.kind, e.compression, e.shift)
			plain, err := aead.Open(nil, b[8:32], b[32:], append(bound, e.id[:]...))
			if err != nil {
				t.Fatalf("blob %v: %v", e.id, err)
			}
			if e.id == file && string(plain) != "Grüße\n" {
				t.Errorf("the file says %q", plain)
			}
			found[e.id] = true
		}
	}
	must.Hold(t, found[file] && found[pages], "the file or the pages are not there")
}

// masterOf opens the box of a key record.
func masterOf(t *testing.T, object []byte) (master []byte, name string) {
	t.Helper()
	var record struct {
		Body struct {
			Current, Box string
			Recipients   []string
		}
	}
	must.Do(t, json.Unmarshal(object, &record))
	raw := must.Get(base64.StdEncoding.DecodeString(record.Body.Box))(t)
	r := must.Get(age.Decrypt(bytes.NewReader(raw), identity(t, alice)))(t)
	var box struct {
		Keys []struct{ ID, Secret string }
	}
	b, err := io.ReadAll(r)
	if err == nil {
		err = json.Unmarshal(b, &box)
	}
	if err != nil || len(box.Keys) != 1 || box.Keys[0].ID != record.Body.Current {
		t.Fatal(err, len(box.Keys))
	}
	master = must.Get(hex.DecodeString(box.Keys[0].Secret))(t)
	return master, box.Keys[0].ID
}

// TestKeyRecordsAreReadStrictly changes a record in every field. The digest of
// the record is always right.
func TestKeyRecordsAreReadStrictly(t *testing.T) {
	t.Parallel()
	base := newEncrypted(t)
	fill(t, open(t, base), few()...)
	const name = "keys/00000001.json"
	good := bodyOf(base.objects[name])
	foreign := newMemory()
	must.Do(t, open(t, foreign).InitKey(ctx, recipients(t, alice), &steady{n: 77}, amber.At(epoch)))
	value := func(body, field string) string {
		_, rest, _ := strings.Cut(body, `"`+field+`":"`)
		v, _, _ := strings.Cut(rest, `"`)
		return v
	}
	other := bodyOf(foreign.objects[name])
	key, box, recipient := value(good, "current"), value(good, "box"), identity(t, alice).Recipient().String()
	replace := func(old, with string) string { return strings.ReplaceAll(good, old, with) }
	tests := []struct {
		name, body string
		want       amber.Kind
	}{
		{"as it is", good, ""},
		{"version 0", replace(`"version":1`, `"version":0`), amber.KindDamaged},
		{"another format", replace(`amber-key`, `amber-pin`), amber.KindDamaged},
		{"another serial", replace(`"serial":1`, `"serial":2`), amber.KindDamaged},
		{"another repository", replace(value(good, "repository"), strings.Repeat("0", 32)), amber.KindDamaged},
		{"no repository", replace(value(good, "repository"), ""), amber.KindDamaged},
		{"a repository in upper case", replace(value(good, "repository"), strings.Repeat("AB", 16)), amber.KindDamaged},
		{"serial 0", replace(`"serial":1`, `"serial":0`), amber.KindDamaged},
		{"another key", replace(key, "0123456789abcdef"), amber.KindDamaged},
		{"a key in upper case", replace(key, "ABCDEF0123456789"), amber.KindDamaged},
		{"no keys", replace(`"keys":["`+key+`"]`, `"keys":[]`), amber.KindDamaged},
		{"a key twice", replace(`"keys":["`, `"keys":["`+key+`","`), amber.KindDamaged},
		{"a key more", replace(`"keys":["`, `"keys":["0123456789abcdef","`), amber.KindDamaged},
		{"nobody", replace(`["`+recipient+`"]`, `[]`), amber.KindDamaged},
		{"somebody else", replace(recipient, identity(t, carol).Recipient().String()), amber.KindDamaged},
		{"somebody more", replace(`["`+recipient, `["`+identity(t, carol).Recipient().String()+`","`+recipient), amber.KindDamaged},
		{"somebody twice", replace(`"`+recipient+`"`, `"`+recipient+`","`+recipient+`"`), amber.KindDamaged},
		{"no time", replace(`"created_at":"2026-01-02T03:04:05.000Z"`, `"created_at":null`), amber.KindDamaged},
		{"no box", replace(box, ""), amber.KindDamaged},
		{"a box that is no base64", replace(box, "*"+box[1:]), amber.KindDamaged},
		{"a box with a line break", replace(box, box[:8]+`\n`+box[8:]), amber.KindDamaged},
		{"a box that is no age file", replace(box, "QUJD"), amber.KindDamaged},
		{"half a box", replace(box, box[:len(box)/8*4]), amber.KindDamaged},
		{"the box of another record", replace(box, value(other, "box")), amber.KindDamaged},
		{"another field", replace(`"version":1`, `"version":1,"colour":1`), amber.KindDamaged},
		{"a signer without a signature", good[:len(good)-1] + `,"signer":"did:key:z6MkehRgf7yJbgaGfYsdoAsKdBPE3dj2CYhowQdcjqSJgvVd"}`, amber.KindDamaged},
		// A person who writes to the target may put a record of their own there. It does not hold the key of what is
		// there.
		{"another record", other, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target := base.clone()
			target.objects[name] = envelope(tt.body)
			r := must.Get(repo.Open(ctx, target, &repo.Options{Identities: []age.Identity{identity(t, alice)}}))(t)
			must.Equal(t, "locked", r.Locked(), tt.want != "")
			report := auditAs(t, target, nil)
			must.Hold(t, report.OK() == (tt.body == good), "audit: %+v", report.Damaged)
			if tt.body == other && r.HasKey(key) {
				t.Error("the record of somebody else holds our key")
			}
		})
	}
}

// FuzzKeyRecord reads any body as the newest key record of a repository.
// Nothing may panic, no error may say that the host is at fault, and what is
// accepted opens.
func FuzzKeyRecord(f *testing.F) {
	base := newMemory()
	must.Do(f, readFolder(encryptedFolder, base))
	body := bodyOf(base.objects["keys/00000001.json"])
	f.Add(body)
	f.Add(strings.Replace(body, `"serial":1`, `"serial":2`, 1))
	f.Add(`{"format":"amber-key","version":2}`)
	f.Fuzz(func(t *testing.T, body string) {
		target := base.clone()
		target.objects["keys/00000001.json"] = envelope(body)
		r, err := repo.Open(ctx, target, &repo.Options{Identities: []age.Identity{identity(t, alice)}})
		if err != nil {
			if amber.KindOf(err) != amber.KindTooNew {
				t.Fatal(err)
			}
			return
		}
		must.Get(r.Audit(ctx, tenant, true, nil))(t)
		_, err = r.Recipients(ctx)
		if damaged := amber.KindOf(err) == amber.KindDamaged; damaged != (len(r.Problems()) > 0) {
			t.Errorf("recipients: %v, problems %v", err, r.Problems())
		}
		if !r.Locked() {
			readAll(t, r, vector())
		}
	})
}
