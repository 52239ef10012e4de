package api

import (
	"errors"
	"strings"

	"github.com/amber-memory/amber"
)

// maxKey bounds a key.
const maxKey = 16 << 10

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
	c.secrets.Hide(key)
	return key, nil
}

// isKey reports whether a text can be a key.
func isKey(s string) bool {
	return s != "" && len(s) <= maxKey && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}
