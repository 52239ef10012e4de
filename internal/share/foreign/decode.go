package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxValues bounds the values of one element: each costs more memory than text of its length.
const maxValues = 2 << 20

// checkValues is an error for JSON that may have too many values. Commas in texts count, too.
func checkValues(raw []byte) error {
	if n := bytes.Count(raw, []byte{','}); n > maxValues {
		return fmt.Errorf("JSON has %d commas, the limit is %d", n, maxValues)
	}
	return nil
}

// Decode reads JSON into a value. A member of another type than the value wants stays empty and costs nothing else: other
// programs change their formats without a word.
func Decode(raw []byte, into any) error {
	if err := checkValues(raw); err != nil {
		return err
	}
	return Lenient(json.Unmarshal(raw, into))
}

// headBytes is how much of a file is looked at to find its format.
const headBytes = 64 << 10

// Names returns the names of the members of a JSON file that is an object, or of the first element of one that is a
// list. The value of each name is the first token of its value, as [json.Decoder.Token] returns it; nil where the
// value is not there. Only the head of the file is read.
func (f File) Names() map[string]json.Token {
	d := json.NewDecoder(bytes.NewReader(f.Head(headBytes)))
	first, err := d.Token()
	if first == json.Delim('[') {
		first, err = d.Token()
	}
	if err != nil || first != json.Delim('{') {
		return nil
	}
	names := map[string]json.Token{}
	for {
		name, err := d.Token()
		text, ok := name.(string)
		if err != nil || !ok {
			return names
		}
		names[text] = nil
		if names[text], err = d.Token(); err != nil || !pass(d, names[text]) {
			return names
		}
	}
}

// pass passes the rest of a value that begins with t.
func pass(d *json.Decoder, t json.Token) bool {
	depth := 0
	for {
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return true
		}
		var err error
		if t, err = d.Token(); err != nil {
			return false
		}
	}
}
