package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/keyring"
)

func (a *app) keyCommand() *cobra.Command {
	c := family("key", "Keys that sign what leaves, and whose signatures count",
		a.keyNewCommand(), a.keyShowCommand(), a.keyListCommand(), a.keyTrustCommand(), a.keyUntrustCommand())
	c.Long = `Snapshots, bundles and what is shared by sync are signed with the ed25519 key of this home, whose
name is a did:key. Whether a signature counts here is decided by the keys that were trusted; with
snapshot.require_signed nothing else is restored or imported, with sync.require_signed nothing
else is taken in from a shared folder.

A key is a file, keys/signing.seed in the home: whoever has it signs as this home, and
nobody can make it again when it is lost.`
	return c
}

// lookAtHome is the home as it is, or would be: nothing is made.
func (a *app) lookAtHome() (*home.Home, error) {
	dir, err := a.homeDir()
	if err != nil {
		return nil, err
	}
	return home.At(dir, home.Options{Clock: a.clock, Random: a.random})
}

// ring returns the keys of a home.
func (a *app) ring(h *home.Home) *keyring.Ring {
	return keyring.Open(h.KeysDir(), keyring.Options{Random: a.random})
}

func seedFile(h *home.Home) string { return filepath.Join(h.KeysDir(), keyring.SeedFile) }
