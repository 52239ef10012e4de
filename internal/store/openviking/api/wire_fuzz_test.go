package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/amber-memory/amber"
)

// FuzzAnswers has a server answer anything: no call panics, every failure is an error with a
// subject, and nothing is said to be absent but by a 404 with JSON.
func FuzzAnswers(f *testing.F) {
	for _, body := range []string{healthy, `{"status":"ok","result":` + hits + `}`, `{"status":"ok","result":[],"has_more":false}`, `{"status":"error","error":{"code":"NOT_FOUND","details":{"retryable":1}}}`, "<html>", ""} {
		for _, status := range []int{200, 202, 307, 404, 409, 500} {
			f.Add(status, body, "1")
		}
	}
	f.Fuzz(func(t *testing.T, status int, body, after string) {
		if status < 200 || status > 599 {
			return
		}
		s := serve(t, says(status, body, "Retry-After", after))
		for _, name := range slices.Sorted(maps.Keys(calls)) {
			_, err := calls[name].do(t.Context(), s.open(t))
			if err != nil {
				checkError(t, err)
			}
			if amber.KindOf(err) == amber.KindNotFound && (status != 404 || !json.Valid([]byte(body))) {
				t.Errorf("%s: %v for %d %q", name, err, status, body)
			}
		}
	})
}
