package agekey

import (
	"fmt"

	"filippo.io/age"
)

const (
	// maxPassphrase bounds a passphrase in bytes.
	maxPassphrase = 1024
	// maxWorkFactor bounds what a file can make its reader do: scrypt with 2^20 needs 1 GiB of memory.
	maxWorkFactor = 20
)

// Passphrase returns the recipient and the identity of a passphrase. age encrypts to a passphrase alone or not at all.
// Either takes about a second and 256 MiB of memory. The error is of kind invalid.
func Passphrase(pass string) (age.Recipient, age.Identity, error) {
	if pass == "" || len(pass) > maxPassphrase {
		return nil, nil, invalid("check passphrase", fmt.Sprintf("want 1 to %d bytes", maxPassphrase))
	}
	r, err := age.NewScryptRecipient(pass)
	if err != nil {
		return nil, nil, invalid("check passphrase", "age does not accept the passphrase")
	}
	id, err := age.NewScryptIdentity(pass)
	if err != nil {
		return nil, nil, invalid("check passphrase", "age does not accept the passphrase")
	}
	id.SetMaxWorkFactor(maxWorkFactor)
	return r, id, nil
}
