package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/freeze"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// A recipient whose identity no test has.
const someRecipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"

func TestBundleExportAsksForWhatTheFlagsSay(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	secret := filepath.Join(out, "pass")
	must.Do(t, os.WriteFile(secret, []byte("one two\nthree\n"), 0o600))
	plain := wire.ExportRequest{
		SnapshotRef: wire.SnapshotRef{Tenant: "default", Agent: "default", ID: snapC}, Format: wire.FormatAmber, Level: 3,
	}
	with := func(change func(*wire.ExportRequest)) wire.ExportRequest {
		r := plain
		change(&r)
		return r
	}
	b := newBench(t)
	for _, tc := range []struct {
		name string
		env  []string
		args []string
		want wire.ExportRequest
	}{
		{"nothing", nil, nil, plain},
		{"a file", nil, []string{"-o", filepath.Join(out, "b")}, with(func(r *wire.ExportRequest) { r.File = filepath.Join(out, "b") })},
		{"a folder", nil, []string{"-o", out}, with(func(r *wire.ExportRequest) { r.File = out })},
		{"form", nil, []string{"--format", "nexo", "--level", "19", "--no-sign"}, with(func(r *wire.ExportRequest) {
			r.Format, r.Level, r.NoSign = wire.FormatNexo, 19, true
		})},
		{"exact", nil, []string{"--no-redact"}, with(func(r *wire.ExportRequest) { r.NoRedact = true })},
		{"exact by configuration", []string{"AMBER_EXPORT__REDACT=off"}, nil, with(func(r *wire.ExportRequest) { r.NoRedact = true })},
		{"redacted because of the flag", []string{"AMBER_EXPORT__REDACT=off"}, []string{"--redact"}, plain},
		{"for somebody", nil, []string{"--encrypt", someRecipient}, with(func(r *wire.ExportRequest) { r.Recipients = []string{someRecipient} })},
		{"passphrase", nil, []string{"--passphrase-file", secret}, with(func(r *wire.ExportRequest) { r.Passphrase = "one two" })},
		{"passphrase of the environment", []string{cli.PassphraseVariable + "=x y"}, nil, with(func(r *wire.ExportRequest) { r.Passphrase = "x y" })},
		{"recipients are stronger", []string{cli.PassphraseVariable + "=x y"}, []string{"--encrypt", someRecipient}, with(func(r *wire.ExportRequest) {
			r.Recipients = []string{someRecipient}
		})},
	} {
		b.env, b.engine.asked = tc.env, nil
		b.run(append([]string{"bundle", "export", string(snapC)}, tc.args...)...).exits(0)
		must.Equal(t, tc.name, b.engine.asked, []any{tc.want})
	}
}

func TestBundleExportTellsWhatIsWrongWithIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.exported = wire.ExportReport{
		BundleInfo: wire.BundleInfo{File: "/x/b.tar.zst"},
		LeftOut:    []wire.Skipped{{Part: "control", Reason: wire.SkipUnsupported}},
		Warnings:   []string{"something odd"},
		Redactions: &wire.RedactionReport{Matches: 3, Rules: []wire.RedactionCount{{Rule: "aws-key", Count: 3}}, Places: make([]wire.RedactionPlace, 2)},
	}
	b.run("bundle", "export", "--now").prints("/x/b.tar.zst\n").warns("redacted: 3 secrets taken out in 2 places (aws-key)",
		"WARNING: something odd", "WARNING: not in the bundle: control", "the bundle is not encrypted")
	b.engine.exported.Encrypted = true
	b.run("bundle", "export", "--now").omits("not encrypted")
	var out freeze.Exported
	b.json(0, &out, "bundle", "export", "--now")
	if out.Snapshot == nil || out.Snapshot.ID != snapC || out.File != "/x/b.tar.zst" {
		t.Errorf("JSON %+v", out)
	}
}

func TestBundleVerifyExits(t *testing.T) {
	t.Parallel()
	policy := amber.Errorf(amber.KindRefused, "check signature", "b", "the bundle is not signed").WithHint("sign it")
	b := newBench(t)
	for _, tc := range []struct {
		name    string
		report  wire.BundleReport
		policy  error
		code    int
		out, is string // on stdout and stderr
	}{
		{"fine", wire.BundleReport{Checked: []string{"sidecar"}, Signature: sign.SignatureReport{Status: sign.SignatureValid, KeyID: "did:key:z", Standing: sign.StandingTrusted}}, nil, 0, "signed by a trusted key, did:key:z", ""},
		{"nothing checked", wire.BundleReport{NotChecked: []string{"all"}}, nil, 0, "NOT CHECKED", ""},
		{"damaged", wire.BundleReport{Damaged: []wire.Damage{{Object: "db/memory.db", Reason: "other bytes"}}}, policy, 5, "DAMAGED db/memory.db: other bytes", ""},
		{"bad", wire.BundleReport{Signature: sign.SignatureReport{Status: sign.SignatureBad, Detail: "it does not match"}}, amber.Errorf(amber.KindUntrusted, "check signature", "b", "bad"), 5, "SIGNATURE BAD: it does not match", "check signature b: bad"},
		{"policy", wire.BundleReport{Checked: []string{"sidecar"}, Signature: sign.SignatureReport{Status: sign.SignatureMissing}}, policy, 6, "not signed", "hint: sign it"},
	} {
		b.engine.bundle, b.engine.policy = tc.report, tc.policy
		b.run("bundle", "verify", "b").exits(tc.code).prints(tc.out).warns(tc.is)
		var report wire.BundleReport
		b.json(tc.code, &report, "bundle", "verify", "b") // one document, whatever the verdict
	}
}

func TestSnapshotRestoreTakesABundle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	file := filepath.Join(t.TempDir(), "b.tar.zst")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	b.run("snapshot", "restore", file).exits(6)
	b.wants()
	b.run("snapshot", "restore", file, "--yes", "--accept-redacted", "--accept-unsigned", "--with-control").exits(0)
	b.wants(file, wire.RestoreRequest{
		SnapshotRef: wire.SnapshotRef{Tenant: "default"}, WithControl: true, AcceptRedacted: true, AcceptUnsigned: true,
	})
	b.run("--agent", "default", "snapshot", "restore", file, "--yes").exits(0)
	b.wants(file, wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{Tenant: "default", Agent: "default"}})
	// Any file will do, whatever its name; a snapshot is not a file.
	other := filepath.Join(filepath.Dir(file), "77ab03de")
	must.Do(t, errors.Join(os.WriteFile(other, nil, 0o600), os.MkdirAll(filepath.Join(filepath.Dir(file), "folder"), 0o700)))
	b.run("snapshot", "restore", other, "--yes").exits(0)
	b.wants(other, wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{Tenant: "default"}})
	for _, args := range [][]string{
		{filepath.Join(filepath.Dir(file), "folder")},
		{file, "--memory", "00000000"},
		{file, "--source", "x", "--to", "y"},
		{file, "--repo", "disk"},
	} {
		b.run(append([]string{"snapshot", "restore", "--yes"}, args...)...).exits(2)
	}
}
