package foreign

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// A function that decodes each element tells that one is broken, and the next is found as if it had been checked before.
func TestAnElementThatDoesNotDecodeIsSkipped(t *testing.T) {
	t.Parallel()
	text := "[\n {\"n\": 1},\n {\"n\": [,\n {\"n\": 3},\n {\"n\": 4}\n]"
	for _, decodes := range []bool{false, true} {
		var r readDoc
		d := r.document()
		note := d.Element
		d.Decodes = decodes
		d.Element = func(list string, n int64, raw []byte) error {
			var v any
			if err := json.Unmarshal(raw, &v); err != nil {
				return err
			}
			return note(list, n, raw)
		}
		must.Do(t, ReadJSON(strings.NewReader(text), d))
		must.Equal(t, "elements", strings.Join(r.got, "|"), ` 1 {"n": 1}| 3 {"n": 3}| 4 {"n": 4}`)
		must.Equal(t, "skipped", strings.Join(r.skipped, "|"), "element 2, line 3: element is not valid JSON")
	}
}

// An error of the function about an element that is valid ends the reading, also where it is one of syntax.
func TestAnErrorOfTheFunctionEndsTheReading(t *testing.T) {
	t.Parallel()
	var r readDoc
	d := r.document()
	stop := errors.New("stop")
	d.Element = func(string, int64, []byte) error { return stop }
	must.Is(t, "error", ReadJSON(strings.NewReader(`[1, 2]`), d), stop)
	d.Decodes = true
	must.Is(t, "error", ReadJSON(strings.NewReader(`[1, 2]`), d), stop)
	d.Decodes = false
	d.Element = func(string, int64, []byte) error { return json.Unmarshal([]byte("{"), &struct{}{}) }
	must.Error(t, "error of syntax", ReadJSON(strings.NewReader(`[1, 2]`), d))
}
