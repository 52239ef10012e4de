package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/wire"
)

// TestDoctorTellsHowSnapshotsAreKept goes the way of a home that begins to sign
// and to encrypt.
func TestDoctorTellsHowSnapshotsAreKept(t *testing.T) {
	p := newSickHome(t)
	tells := func(code string, status wire.FindingStatus, detail string) {
		t.Helper()
		if _, found := p.doctor(); found[code].Status != status || !strings.Contains(found[code].Detail, detail) {
			t.Errorf("%s: %+v, want %s with %q", code, found[code], status, detail)
		}
	}
	tells("signing_key", wire.FindingOK, "the first snapshot makes one")
	tells("encryption", wire.FindingOK, "off; no repository yet")
	p.snapshot()
	tells("signing_key", wire.FindingOK, "did:key:z6Mk")
	tells("trusted_keys", wire.FindingOK, "0 beside this home's own")
	tells("encryption", wire.FindingOK, "off; the repository is not encrypted")

	id, err := age.GenerateX25519Identity()
	p.must(err)
	p.world.Environ = append(p.world.Environ, "AMBER_SNAPSHOT__ENCRYPTION__RECIPIENTS="+id.Recipient().String())
	tells("encryption", wire.FindingOK, "to 1 recipient; the repository is not encrypted")
	p.snapshot()
	tells("encryption", wire.FindingOK, "to 1 recipient; the repository is encrypted, and opens")

	own := filepath.Join(p.home, "keys", keyring.AgeIdentityFile)
	p.must(os.Remove(own))
	tells("encryption", wire.FindingFailed, "no identity of this home opens it")
	p.key("ada", id.String()+"\n")
	p.world.Environ = append(p.world.Environ, "AMBER_SNAPSHOT__ENCRYPTION__IDENTITY="+filepath.Join(p.home, "keys", "ada"))
	tells("encryption", wire.FindingOK, "is encrypted, and opens")
}

// TestDoctorWarnsThatNothingCanBeRestored looks at a home that trusts no key and requires signed snapshots.
func TestDoctorWarnsThatNothingCanBeRestored(t *testing.T) {
	p := newSickHome(t)
	p.world.Environ = append(p.world.Environ, "AMBER_SNAPSHOT__REQUIRE_SIGNED=on")
	p.finds(0, "trusted_keys", wire.FindingWarning)
	p.snapshot()
	p.finds(0, "trusted_keys", wire.FindingOK)
}

// TestDoctorKnowsWhichKeysAreSecret changes modes: what is public may be read.
func TestDoctorKnowsWhichKeysAreSecret(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes of files")
	}
	p := newSickHome(t)
	p.snapshot()
	p.key(keyring.TrustedFile, "# nobody\n")
	dir := filepath.Join(p.home, "keys")
	for _, tc := range []struct {
		name string
		mode os.FileMode
		hint string
	}{
		{keyring.SeedFile, 0o600, ""},
		{keyring.SeedFile, 0o604, "chmod 600 "},
		{keyring.TrustedFile, 0o644, ""},
		{keyring.TrustedFile, 0o664, "chmod 600 "},
		{"", 0o755, "chmod 700 "},
	} {
		path := filepath.Join(dir, tc.name)
		before, err := os.Stat(path)
		p.must(err)
		p.must(os.Chmod(path, tc.mode))
		_, found := p.doctor()
		got := found["key_modes"]
		if tc.hint != "" && got.Hint != tc.hint+path || (got.Status == wire.FindingOK) != (tc.hint == "") {
			t.Errorf("%s %04o: %+v", tc.name, tc.mode, got)
		}
		if tc.hint != "" && (found["signing_key"].Status != wire.FindingNotChecked || found["encryption"].Status != wire.FindingNotChecked) {
			t.Errorf("%s %04o: what others can reach was used: %+v", tc.name, tc.mode, found["signing_key"])
		}
		p.must(os.Chmod(path, before.Mode().Perm()))
	}
}
