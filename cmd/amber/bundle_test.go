package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/must"
	"github.com/amber-memory/amber/sign"
	"github.com/amber-memory/amber/wire"
)

// A recipient that is nobody's.
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
		if code, _, stderr := b.run(append([]string{"bundle", "export", string(snapC)}, tc.args...)...); code != 0 {
			t.Errorf("%s: exit code %d: %s", tc.name, code, stderr)
			continue
		}
		if diff := cmp.Diff([]any{tc.want}, b.engine.asked); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestBundleExportRefusesBeforeItFreezes(t *testing.T) {
	t.Parallel()
	taken := filepath.Join(t.TempDir(), "there")
	must.Do(t, os.WriteFile(taken, nil, 0o600))
	b := newBench(t)
	for _, tc := range []struct {
		args []string
		code int
	}{
		{[]string{"--level", "0"}, 2},
		{[]string{"--level", "20"}, 2},
		{[]string{"--format", ""}, 2},
		{[]string{"--format", "zip"}, 2},
		{[]string{"-o", ""}, 2},
		{[]string{"-o", taken}, 4},
		{[]string{"--encrypt", "age1nonsense"}, 2},
		{[]string{"--encrypt", ""}, 2},
		{[]string{"--encrypt", someRecipient, "--passphrase-file", taken}, 2},
		{[]string{"--passphrase-file", ""}, 2},
		{[]string{"--passphrase-file", taken}, 2}, // it is empty
		{[]string{"--passphrase-file", t.TempDir()}, 6},
		{[]string{"--redact", "--no-redact"}, 2},
		{[]string{"--label", "two\nlines"}, 2},
		{[]string{string(snapC)}, 2},
	} {
		if code, _, stderr := b.run(append([]string{"bundle", "export", "--now"}, tc.args...)...); code != tc.code || len(b.engine.asked) > 0 {
			t.Errorf("%q: exit code %d, want %d, asked %v: %s", tc.args, code, tc.code, b.engine.asked, stderr)
		}
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
	_, stdout, stderr := b.run("bundle", "export", "--now")
	says(t, "stdout", stdout, "/x/b.tar.zst\n")
	for _, text := range []string{
		"redacted: 3 secrets taken out in 2 places (aws-key)", "WARNING: something odd",
		"WARNING: not in the bundle: control", "the bundle is not encrypted",
	} {
		says(t, "stderr", stderr, text)
	}
	b.engine.exported.Encrypted = true
	if _, _, stderr = b.run("bundle", "export", "--now"); strings.Contains(stderr, "not encrypted") {
		t.Errorf("of an encrypted one it says: %s", stderr)
	}
	var out exported
	b.json(0, &out, "bundle", "export", "--now")
	if out.Snapshot == nil || out.Snapshot.ID != snapC || out.File != "/x/b.tar.zst" {
		t.Errorf("JSON %+v", out)
	}
}

func TestBundleVerifyExits(t *testing.T) {
	t.Parallel()
	policy := amber.Errorf(amber.KindRefused, "check signature", "b", "it is not signed").WithHint("sign it")
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
		code, stdout, stderr := b.run("bundle", "verify", "b")
		if code != tc.code {
			t.Errorf("%s: exit code %d, want %d", tc.name, code, tc.code)
		}
		says(t, tc.name+": stdout", stdout, tc.out)
		says(t, tc.name+": stderr", stderr, tc.is)
		var report wire.BundleReport
		b.json(tc.code, &report, "bundle", "verify", "b") // one document, whatever the verdict
	}
}

func TestSnapshotVerifyHeedsPolicy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.reports = map[amber.SnapshotID]wire.VerifyReport{
		snapC: {Checked: []string{"manifest"}, Signature: sign.SignatureReport{Status: sign.SignatureMissing}},
	}
	b.engine.policy = amber.Errorf(amber.KindRefused, "check signature", "", "it is not signed")
	for _, which := range []string{string(snapC), "--all"} {
		code, stdout, stderr := b.run("snapshot", "verify", which)
		if code != 6 {
			t.Errorf("%s: exit code %d, want 6: %s", which, code, stderr)
		}
		says(t, "stdout", stdout, "signature: not signed")
		says(t, "stderr", stderr, "it is not signed")
	}
}

func TestSnapshotRestoreTakesABundle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	file := filepath.Join(t.TempDir(), "b.tar.zst")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	if code, _, _ := b.run("snapshot", "restore", file); code != 6 || b.engine.changed() {
		t.Errorf("unasked: exit code %d, asked %v", code, b.engine.asked)
	}
	code, _, stderr := b.run("snapshot", "restore", file, "--yes", "--accept-redacted", "--accept-unsigned", "--with-control")
	want := []any{file, wire.RestoreRequest{
		SnapshotRef: wire.SnapshotRef{Tenant: "default"}, WithControl: true, AcceptRedacted: true, AcceptUnsigned: true,
	}}
	if diff := cmp.Diff(want, b.engine.asked); code != 0 || diff != "" {
		t.Errorf("exit code %d: %s (-want +got):\n%s", code, stderr, diff)
	}
	b.engine.asked = nil
	if code, _, _ := b.run("--agent", "default", "snapshot", "restore", file, "--yes"); code != 0 || b.engine.asked[1].(wire.RestoreRequest).Agent != "default" {
		t.Errorf("with --agent: exit code %d, asked %v", code, b.engine.asked)
	}
	// Any file will do, whatever its name; a snapshot is not a file.
	other := filepath.Join(filepath.Dir(file), "77ab03de")
	must.Do(t, errors.Join(os.WriteFile(other, nil, 0o600), os.MkdirAll(filepath.Join(filepath.Dir(file), "folder"), 0o700)))
	b.engine.asked = nil
	if code, _, _ := b.run("snapshot", "restore", other, "--yes"); code != 0 || b.engine.asked[0] != other {
		t.Errorf("a file: exit code %d, asked %v", code, b.engine.asked)
	}
	for _, args := range [][]string{
		{filepath.Join(filepath.Dir(file), "folder")},
		{file, "--memory", "00000000"},
		{file, "--source", "x", "--to", "y"},
		{file, "--repo", "disk"},
	} {
		if code, _, stderr := b.run(append([]string{"snapshot", "restore", "--yes"}, args...)...); code != 2 {
			t.Errorf("%q: exit code %d, want 2: %s", args, code, stderr)
		}
	}
}

func TestRecipientsRemoveSaysWhatItDoesNotDo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.readers = []string{someRecipient}
	var out readership
	b.json(0, &out, "repo", "recipients", "remove", "  "+someRecipient)
	if diff := cmp.Diff(readership{[]string{someRecipient}, []string{}, []string{someRecipient}, false}, out); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, _, stderr := b.run("--quiet", "repo", "recipients", "remove", someRecipient)
	says(t, "stderr", stderr, "WARNING: the removed recipient may have kept the key of the repository")
	if code, _, _ := b.run("repo", "recipients", "add", "nonsense"); code != 2 {
		t.Errorf("nonsense: exit code %d, want 2", code)
	}
}
