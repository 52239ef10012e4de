package strictjson

import (
	"bytes"
	"encoding/json"
)

// Line returns v as one line of JSON, without a line feed, in which only those characters are escaped that have to be:
// [json.Marshal] makes < > and & six times as long.
func Line(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
