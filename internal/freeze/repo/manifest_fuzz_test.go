package repo_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

// recordSeeds are the vectors.
func recordSeeds(f *testing.F) [][]byte {
	f.Helper()
	files, err := filepath.Glob("testdata/records/*.golden")
	if err != nil || len(files) == 0 {
		f.Fatal("no vectors", err)
	}
	var seeds [][]byte
	for _, file := range files {
		b := must.Get(os.ReadFile(file))(f)
		seeds = append(seeds, b)
	}
	return seeds
}

// looksAtRecord reads an object in the place of every kind of record. Nothing
// may panic or say that the host is at fault, and what is accepted is what
// would be written.
func looksAtRecord(t *testing.T, object []byte) {
	t.Helper()
	mem := newMemory()
	manifest := "snapshots/ada/" + string(vectorID) + ".json"
	for _, name := range []string{manifest, "stubs/ada/" + string(unreadableID) + ".json", "pins/ada/" + string(vectorID) + ".json"} {
		mem.objects[name] = object
	}
	if len(object) > 100 {
		if at := bytes.LastIndex(object, []byte(`,"digest":"`)); at > 0 && at+75 < len(object) {
			name := "condemned/" + string(object[at+11:at+75]) + ".json"
			if target.CheckObjectName(name) == nil {
				mem.objects[name] = object
			}
		}
	}
	s := newStore(t, mem)
	must.Get(s.repo.Audit(ctx, tenant, true, nil))(t)
	must.Get(s.catalog.Tip(ctx, ada, laptop))(t)
	e, err := s.catalog.Get(ctx, ada, vectorID)
	switch amber.KindOf(err) {
	case "":
		if e.Signature.Status != sign.SignatureMissing {
			return // this test has no key to sign the manifest again
		}
		again := newMemory()
		digest, err := newStore(t, again).catalog.Publish(ctx, may(), e.Manifest)
		if err != nil || digest != e.Digest || !bytes.Equal(again.objects[manifest], object) {
			t.Errorf("accepted, and written otherwise: %v\n%s\n%s", err, object, again.objects[manifest])
		}
	case amber.KindDamaged, amber.KindTooNew:
	default:
		t.Fatal(err)
	}
}

// FuzzRecord reads any body in an envelope that is right.
func FuzzRecord(f *testing.F) {
	for _, seed := range recordSeeds(f) {
		if bytes.HasPrefix(seed, []byte(`{"body":`)) {
			f.Add(bodyOf(seed))
		}
	}
	f.Add(`{"format":"amber-snapshot","version":2}`)
	f.Fuzz(func(t *testing.T, body string) { looksAtRecord(t, envelope(body)) })
}

// FuzzEnvelope reads any bytes as a record.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range recordSeeds(f) {
		f.Add(seed)
	}
	f.Add(bytes.Replace(envelope(`{}`), []byte("[]}"), []byte("[1]}"), 1))
	f.Fuzz(looksAtRecord)
}

// FuzzInner reads any bytes as an inner manifest.
func FuzzInner(f *testing.F) {
	for _, seed := range recordSeeds(f) {
		f.Add(seed)
	}
	f.Add([]byte(`{"format":"amber-inner","version":2}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := repo.DecodeInner(b)
		switch amber.KindOf(err) {
		case "":
			if again := must.Get(repo.EncodeInner(in))(t); !bytes.Equal(again, b) {
				t.Errorf("accepted, and written otherwise\n%s\n%s", hex.Dump(b), hex.Dump(again))
			}
		case amber.KindDamaged, amber.KindTooNew:
		default:
			t.Fatal(err)
		}
	})
}
