package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
)

var update = flag.Bool("update", false, "write golden files anew")

// patience is how long the client of these tests waits for an answer that is not of a long operation.
const patience = time.Minute

// errLost is the end of a request whose answer is lost.
var errLost = errors.New("the answer is lost")

// spoken writes down the first request of one call and loses every answer.
type spoken struct {
	routes *http.ServeMux // of the table of operations
	route  string         // that the request was for
	first  strings.Builder
	long   bool // its answer may take longer than others
	sent   int
}

// RoundTrip implements [http.RoundTripper].
func (s *spoken) RoundTrip(r *http.Request) (*http.Response, error) {
	s.sent++
	if s.sent > 1 {
		return nil, errLost
	}
	_, s.route = s.routes.Handler(r)
	fmt.Fprintf(&s.first, "%s %s\n", r.Method, r.URL.RequestURI())
	for _, name := range []string{"Accept", "Content-Type", "Idempotency-Key", "If-Match", "Expect"} {
		if v := r.Header.Get(name); v != "" {
			fmt.Fprintf(&s.first, "  %s: %s\n", name, v)
		}
	}
	until, ok := r.Context().Deadline()
	if s.long = ok && time.Until(until) > patience; s.long {
		s.first.WriteString("  may take long\n")
	}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&s.first, "  %s\n", strings.TrimSuffix(string(body), "\n"))
	}
	return nil, errLost
}

// TestRequestsStayAsTheyAre: the request of every operation, for the input that the reference gives as an example, reaches
// its route and is equal to the byte, and so is how often it is sent when its answer is lost. The table says how long an
// answer may take, and no word of a path does.
func TestRequestsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	var examples map[string]struct {
		Parameters map[string]json.RawMessage
		Request    json.RawMessage
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("../internal/serve/httpapi/examples.json"))(t), &examples))
	routes := http.NewServeMux()
	for _, r := range op.All() {
		routes.Handle(r.Method()+" /amber"+r.Path(), http.NotFoundHandler())
	}
	var all strings.Builder
	for _, r := range op.All() {
		if r.Is(op.Streamed) {
			continue
		}
		s := &spoken{routes: routes}
		c := must.Get(client.New(client.Options{
			URL: "http://127.0.0.1/amber", Attempts: 2, Wait: noWait, Patience: patience,
			HTTP: &http.Client{Transport: s}, Random: bytes.NewReader(make([]byte, 16)),
		}))(t)
		in := reflect.New(r.In).Elem()
		must.Do(t, op.Fields(in, func(f op.Field, v reflect.Value) error {
			given := examples[r.ID].Parameters[f.Name]
			switch {
			case f.Name == "raw":
				v.Set(reflect.ValueOf(op.Upload{Reader: strings.NewReader("x")}))
			case f.In == "body":
				given = examples[r.ID].Request
			case f.In == "path" && given == nil:
				given = json.RawMessage(`"` + string(someID) + `"`)
			}
			if given == nil {
				return nil
			}
			return json.Unmarshal(given, v.Addr().Interface())
		}))
		where := op.Where(must.Get(c.Agent("acme", "ada"))(t))
		if r.Is(op.OfHome) {
			where = c
		}
		var out op.None
		err := where.Do(t.Context(), r, in.Interface(), &out)
		must.Hold(t, s.sent > 0, "%s: nothing is sent: %v", r.ID, err)
		must.Equal(t, r.ID+": route", s.route, r.Method()+" /amber"+r.Path())
		if !r.Is(op.Uploaded) { // it may take as long as its file comes, without a deadline
			must.Equal(t, r.ID+" may take long", s.long, r.Is(op.Long))
		}
		fmt.Fprintf(&all, "%s: %s", r.ID, s.first.String())
		if s.sent > 1 {
			all.WriteString("  again when the answer is lost\n")
		}
	}
	golden.Check(t, *update, "requests", all.String())
}
