package vaultapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/amber-memory/amber"
)

// body is a JSON object as it came. As in the service, unknown members mean nothing, and of two members with one
// name the last counts.
type body struct {
	raw     []byte
	members map[string]json.RawMessage
}

// readBody reads the document of a request.
func (h *Handler) readBody(c *call) (body, error) {
	if err := plainJSON(c.Header); err != nil {
		return body{}, err
	}
	raw, err := io.ReadAll(c.Body)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return body{}, unprocessable("too_long", fmt.Sprintf("The body should have at most %d bytes", large.Limit), "body")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return body{}, unprocessable("json_invalid", "The body is cut off", "body")
	case err != nil:
		return body{}, &amber.Error{Op: "read request", Kind: amber.KindUnreachable, Err: err}
	}
	return parseBody(raw)
}

// plainJSON refuses what is no JSON, or packed.
func plainJSON(h http.Header) error {
	if e := h.Get("Content-Encoding"); e != "" && e != "identity" {
		return unprocessable("json_invalid", "A body that is packed is not understood", "body")
	}
	t := h.Get("Content-Type")
	if t == "" {
		return nil
	}
	if kind, _, err := mime.ParseMediaType(t); err != nil || kind != "application/json" {
		return unprocessable("model_attributes_type", "The body should be application/json", "body")
	}
	return nil
}

func parseBody(raw []byte) (body, error) {
	b := body{raw: raw}
	switch {
	case len(raw) == 0:
		return b, unprocessable("missing", "Field required", "body")
	case !utf8.Valid(raw):
		return b, unprocessable("json_invalid", "The body is not UTF-8", "body")
	}
	err := json.Unmarshal(raw, &b.members)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong), err == nil && b.members == nil: // null
		return b, unprocessable("model_attributes_type", "Input should be a valid dictionary", "body")
	case err != nil:
		return b, unprocessable("json_invalid", "JSON decode error", "body")
	}
	return b, nil
}

// text returns a member that is a text of at most so many characters; least is
// how many it must have.
func (b body) text(name string, least, most int) (string, error) {
	raw, ok := b.members[name]
	if !ok {
		return "", unprocessable("missing", "Field required", "body", name)
	}
	if raw[0] != '"' {
		return "", unprocessable("string_type", "Input should be a valid string", "body", name)
	}
	if loneSurrogate(raw) {
		return "", unprocessable("string_unicode", "Input should be a valid string, unable to parse raw data as a unicode string", "body", name)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", unprocessable("string_type", "Input should be a valid string", "body", name)
	}
	return s, checkLength(s, least, most, "body", name)
}

func checkLength(s string, least, most int, where ...string) error {
	switch n := utf8.RuneCountInString(s); {
	case n < least:
		return unprocessable("string_too_short", fmt.Sprintf("String should have at least %d characters", least), where...)
	case n > most:
		return unprocessable("string_too_long", fmt.Sprintf("String should have at most %d characters", most), where...)
	}
	return nil
}

// flag returns a member that is true or false; false when it is not there.
func (b body) flag(name string) (bool, error) {
	switch raw := string(b.members[name]); raw {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, unprocessable("bool_type", "Input should be a valid boolean", "body", name)
}

// loneSurrogate reports whether a JSON string escapes half of a character, for
// which a decoder would put something else without a word.
func loneSurrogate(quoted []byte) bool {
	pending := false // the first half came just before
	for i := 0; i < len(quoted); i++ {
		unit := rune(-1)
		if quoted[i] == '\\' {
			if i++; quoted[i] == 'u' {
				n, _ := strconv.ParseUint(string(quoted[i+1:i+5]), 16, 32) // it was read before
				unit, i = rune(n), i+4
			}
		}
		second := unit >= 0xDC00 && unit <= 0xDFFF
		if pending != second {
			return true
		}
		pending = unit >= 0xD800 && unit <= 0xDBFF
	}
	return false // the last was a quote
}
