package foreign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Conversations reads a file that is a list of conversations, one at a time, and decodes each. It reports what cannot
// be read to to.Skip. The error is that of fn or of ctx.
func Conversations[T any](ctx context.Context, f File, to Sink, fn func(at Place, c *T) error) error {
	other := false
	err := ReadDocument(f, to.Skip, Document{
		Element: func(list string, n int64, raw []byte) error {
			if list != "" {
				other = true
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			return decodeConversation(f.Place(fmt.Sprintf("conversation %d", n)), raw, to, fn)
		},
		Decodes: true,
		Member:  func(string, []byte) error { other = true; return nil },
	})
	if other {
		to.Skip(f.Place(""), "document is not a list, want a list of conversations")
	}
	return err
}

func decodeConversation[T any](at Place, raw []byte, to Sink, fn func(at Place, c *T) error) error {
	var c T
	err := Decode(raw, &c)
	if _, broken := errors.AsType[*json.SyntaxError](err); broken {
		return err // which ReadJSON expects
	}
	if err != nil {
		to.Skip(at, "conversation cannot be read: %v", err)
		return nil
	}
	return fn(at, &c)
}
