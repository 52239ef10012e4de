package api

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
)

// Bounds of secrets.
const (
	maxKey     = 16 << 10
	maxSecrets = 16 // that are kept out of errors
)

// secrets remember the keys that were used or made. The keys are inside of functions, so that no
// way of printing a client shows one: fmt follows pointers for some verbs.
type secrets struct {
	hide  func(key string)         // keeps a key out of texts
	scrub func(text string) string // takes the keys out of a text: a server may repeat them
}

func newSecrets() secrets {
	var mu sync.Mutex
	var keys []string // the newest at the end
	return secrets{
		hide: func(key string) {
			mu.Lock()
			defer mu.Unlock()
			keys = append(slices.DeleteFunc(keys, func(k string) bool { return k == key }), key)
			keys = keys[max(0, len(keys)-maxSecrets):]
		},
		scrub: func(text string) string {
			mu.Lock()
			defer mu.Unlock()
			for _, k := range keys {
				text = strings.ReplaceAll(text, k, "***")
			}
			return text
		},
	}
}

// key asks for the key, "" where there is none to send. Errors: what [Options.Key] returns;
// refused for a key that no header can hold, as if the server had said so: what was to be sent is
// not at fault.
func (c *Client) key(r request) (string, error) {
	if c.o.Key == nil {
		return "", nil
	}
	key, err := c.o.Key()
	if err != nil {
		if e, ok := errors.AsType[*amber.Error](err); ok {
			return "", e
		}
		return "", &amber.Error{Op: r.op, Kind: amber.KindOf(err), ID: r.id, Err: err}
	}
	if key = strings.TrimSpace(key); !isKey(key) {
		return "", c.fail(r, amber.KindRefused, "the API key is not valid: want 1 to %d printable ASCII characters without spaces", maxKey)
	}
	c.secrets.hide(key)
	return key, nil
}

// isKey reports whether a text can be a key.
func isKey(s string) bool {
	return s != "" && len(s) <= maxKey && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}
