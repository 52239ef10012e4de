package config

import (
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
)

// checkRecipients checks a list of public keys. The error repeats none of them: a person may have
// written a secret key by mistake.
func (k Key) checkRecipients(list []string) error {
	keys, err := agekey.ParseRecipients(list)
	if err != nil {
		if e, ok := errors.AsType[*amber.Error](err); ok && e.Err != nil {
			err = e.Err
		}
		return fmt.Errorf("%s: %s%w", k.Path, k.badRecipient(list), err)
	}
	if len(keys) < len(list) {
		return fmt.Errorf("%s names a public key twice", k.Path)
	}
	return nil
}

// badRecipient names the first element that is no public key; "" when it is
// the list that is wrong.
func (k Key) badRecipient(list []string) string {
	for i, s := range list {
		if _, err := agekey.ParseRecipient(s); err != nil {
			return fmt.Sprintf("number %d is no public key: ", i+1)
		}
	}
	return ""
}
