package api

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// Bounds of what is sent.
const (
	// MaxBatch is the largest number of files of one [Client.WriteBatch].
	MaxBatch = 200

	maxBatchBytes = 16 << 20
	maxContent    = 8 << 20
	maxURI        = 4096
	maxID         = 128
)

// isURI reports whether a text can be the name of a file. Control characters can not be part of
// one: names are printed.
func isURI(s string) bool {
	return s != "" && len(s) <= maxURI && utf8.ValidString(s) && !strings.ContainsFunc(s, unsafeRune)
}

// unsafeRune reports whether a character changes how a line is shown.
func unsafeRune(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// checkURI checks a name that is asked for. Errors: invalid.
func checkURI(op, uri string) error {
	if isURI(uri) {
		return nil
	}
	return amber.Errorf(amber.KindInvalid, op, clean(uri), "the URI is not valid: want 1 to %d bytes of UTF-8 without control characters", maxURI)
}

// checkFile checks a file that is to be written. JSON would silently change text that is not
// UTF-8. Errors: invalid.
func checkFile(op string, f File) error {
	if err := checkURI(op, f.URI); err != nil {
		return err
	}
	if len(f.Content) > maxContent {
		return amber.Errorf(amber.KindInvalid, op, f.URI, "the content has %d bytes, want at most %d", len(f.Content), maxContent)
	}
	if !utf8.ValidString(f.Content) {
		return amber.Errorf(amber.KindInvalid, op, f.URI, "the content is not valid UTF-8")
	}
	return nil
}

// isID reports whether a text can be the id of an account, a user or a task, which is part of a
// path.
func isID(s string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_.@-", r)
	}
	return s != "" && len(s) <= maxID && s != "." && s != ".." && !strings.ContainsFunc(s, other)
}

// checkIDs checks ids that are asked for. Errors: invalid.
func checkIDs(op string, ids ...string) error {
	for _, id := range ids {
		if !isID(id) {
			return amber.Errorf(amber.KindInvalid, op, clean(id), "the id is not valid: want 1 to %d letters, digits or any of _.@-", maxID)
		}
	}
	return nil
}

// same compares the URI of an answer with the one that was asked for. The server changes names
// that it does not like, and a slash at the end says nothing. Errors: invalid.
func (c *Client) same(r request, asked, answered string) error {
	if strings.TrimRight(asked, "/") == strings.TrimRight(answered, "/") {
		return nil
	}
	return c.fail(r, amber.KindInvalid, "the server answers with the URI %q, want %q", clean(answered), asked)
}

// clean makes a line for a terminal of what a stranger wrote.
func clean(s string) string { return clip.Runes(clip.Printed(s[:min(len(s), 4096)]), 200) }
