package api

import (
	"errors"

	"github.com/amber-memory/amber"
)

// ErrKeyRefused is in the chain of an error, of kind refused, when the vault does
// not take the key: no other call with it will fare better.
var ErrKeyRefused = errors.New("the vault refuses the API key")

// keyRefused says what the vault said of the key.
type keyRefused struct{ err error }

func (k *keyRefused) Error() string        { return k.err.Error() }
func (k *keyRefused) Unwrap() error        { return k.err }
func (k *keyRefused) Is(target error) bool { return target == ErrKeyRefused }

// ofKey notes that a refusal is one of the key.
func (f *failure) ofKey() *failure {
	if f.err.Kind == amber.KindRefused {
		f.err.Err = &keyRefused{f.err.Err}
	}
	return f
}
