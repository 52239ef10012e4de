package repo_test

import (
	"os"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// signedVectors makes one signed record of each kind, with the key of the seed
// 00 01 02 … 1f.
func signedVectors(t *testing.T) map[string]string {
	t.Helper()
	target, s := signedStore(t)
	m := vectorManifest()
	m.By, m.Amber = wire.Asker{Trust: amber.TrustAgent, Author: amber.Author{Host: "claude-code", Session: "s1", Token: "laptop"}}, "1.0.0"
	m.Signer = own.KeyID()
	must.Get(s.catalog.Publish(ctx, may(), m))(t)
	records := map[string]string{"manifest-signed": string(target.objects[manifestOf(m)])}
	target.objects["snapshots/ada/"+string(unreadableID)+".json"] = nil
	for _, id := range []amber.SnapshotID{vectorID, unreadableID} {
		must.Do(t, s.catalog.Delete(ctx, may(), ada, id, "pruned", s.at()))
	}
	records["stub-signed"] = string(target.objects[stubNameOf(m)])
	records["stub-unreadable-signed"] = string(target.objects["stubs/ada/"+string(unreadableID)+".json"])
	return records
}

// TestSignedRecordVectors compares what is written with what an earlier Amber
// wrote, and with the document.
func TestSignedRecordVectors(t *testing.T) {
	t.Parallel()
	b := must.Get(os.ReadFile("../../../docs/format/repository.md"))(t)
	doc := strings.ReplaceAll(string(b), "\r\n", "\n")
	for name, got := range signedVectors(t) {
		golden.Check(t, *update, "records/"+name, got)
		if name != "stub-unreadable-signed" && !strings.Contains(doc, got) {
			t.Errorf("the document does not show\n%s", got)
		}
	}
}

// TestSignedRecordsOfAnEarlierAmberAreValid reads the files.
func TestSignedRecordsOfAnEarlierAmberAreValid(t *testing.T) {
	t.Parallel()
	target := newMemory()
	for name, file := range map[string]string{
		"snapshots/ada/" + string(vectorID) + ".json": "manifest-signed", "stubs/ada/" + string(unreadableID) + ".json": "stub-unreadable-signed",
	} {
		b := must.Get(os.ReadFile("testdata/records/" + file + ".golden"))(t)
		target.objects[name] = []byte(strings.ReplaceAll(string(b), "\r\n", "\n"))
	}
	s := newStore(t, target)
	e := must.Get(s.catalog.Get(ctx, ada, vectorID))(t)
	must.Equal(t, "signature", e.Signature, repo.SignatureState{Status: sign.SignatureValid, KeyID: own.KeyID()})
	if report := must.Get(s.repo.Audit(ctx, tenant, true, nil))(t); !hasText(report.Checked, "signatures: 2 valid, 0 unsigned") {
		t.Errorf("%+v", report)
	}
}
