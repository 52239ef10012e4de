package agekey

import (
	"errors"
	"strings"

	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"

	"filippo.io/age"
)

// parseSSHRecipient reads a line of a .pub file.
func parseSSHRecipient(s string) (Recipient, error) {
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(s))
	if err != nil || len(options) > 0 || len(rest) > 0 {
		return badRecipient("the SSH key is not intact")
	}
	r, err := sshRecipient(key)
	if err != nil {
		return badRecipient(err.Error())
	}
	return r, nil
}

func sshRecipient(key ssh.PublicKey) (Recipient, error) {
	var r age.Recipient
	var err error
	switch key.Type() {
	case ssh.KeyAlgoED25519:
		r, err = agessh.NewEd25519Recipient(key)
	case ssh.KeyAlgoRSA:
		r, err = agessh.NewRSARecipient(key)
	default:
		return Recipient{}, errors.New("of SSH keys only ssh-ed25519 and ssh-rsa can be encrypted to")
	}
	if err != nil {
		return Recipient{}, errors.New("the SSH key cannot be encrypted to; an RSA key needs 2048 bits")
	}
	text := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
	return Recipient{r, text, SSH}, nil
}

// parseSSHIdentity reads a private key in PEM.
func parseSSHIdentity(pem []byte) (age.Identity, error) {
	raw, err := ssh.ParseRawPrivateKey(pem)
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return nil, errors.New("the SSH key has a passphrase; amber needs a key without")
	case err != nil:
		return nil, errors.New("the SSH key is not intact")
	}
	signer, err := ssh.NewSignerFromKey(raw)
	if err != nil {
		return nil, errors.New("of SSH keys only ed25519 and rsa can decrypt")
	}
	r, err := sshRecipient(signer.PublicKey())
	if err != nil {
		return nil, err
	}
	id, err := agessh.ParseIdentity(pem)
	if err != nil {
		return nil, errors.New("the SSH key is not fit to decrypt with")
	}
	return &sshIdentity{id, r}, nil
}
