package embed

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// asked is what a server of embeddings is sent.
type asked struct {
	Model *string  `json:"model"`
	Input []string `json:"input"`
}

// vectorsServer answers with one vector for each text: its length, then zeros. It answers
// in the opposite order, as a server may.
func vectorsServer(t *testing.T, seen func(*http.Request, asked)) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in asked
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		seen(r, in)
		type item struct {
			Index     int       `json:"index"`
			Embedding []float64 `json:"embedding"`
		}
		var out struct {
			Data []item `json:"data"`
		}
		for i := len(in.Input) - 1; i >= 0; i-- {
			v := make([]float64, minDim)
			v[0], v[1] = float64(len(in.Input[i])), 1
			out.Data = append(out.Data, item{i, v})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestEndpointMakesVectorsInTheOrderOfTheTexts(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	s := vectorsServer(t, func(r *http.Request, in asked) {
		requests.Add(1)
		must.Equal(t, "request", []string{r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), *in.Model},
			[]string{"POST", "/v1/embeddings", "Bearer k", "application/json", "tiny"})
		must.Hold(t, len(in.Input) <= endpointBatch, "%d texts at once", len(in.Input))
	})
	for _, u := range []string{s.URL + "/v1", s.URL + "/v1/", s.URL + "/v1/embeddings"} {
		requests.Store(0)
		e := must.Get(NewEndpoint(EndpointOptions{URL: u, Model: "tiny", Key: "k"}))(t)
		must.Equal(t, "name", e.Name(), s.URL+"/v1/embeddings tiny")
		var texts []string
		for i := range endpointBatch + 3 {
			texts = append(texts, strings.Repeat("x", i+1))
		}
		vs := must.Get(e.Embed(t.Context(), texts, false))(t)
		must.Equal(t, "requests", requests.Load(), 2)
		for i, v := range vs {
			n := float64(i + 1)
			want := n / math.Sqrt(n*n+1)
			must.Hold(t, math.Abs(float64(v[0])-want) < 1e-6, "vector %d begins with %v, want %v", i, v[0], want)
		}
	}
}

func TestEndpointWithoutModelOrKeySendsNone(t *testing.T) {
	t.Parallel()
	s := vectorsServer(t, func(r *http.Request, in asked) {
		must.Hold(t, in.Model == nil && r.Header.Get("Authorization") == "", "model %v, authorization %q", in.Model, r.Header.Get("Authorization"))
	})
	e := must.Get(NewEndpoint(EndpointOptions{URL: s.URL}))(t)
	must.Equal(t, "vectors", len(must.Get(e.Embed(t.Context(), []string{"a"}, true))(t)), 1)
	must.Equal(t, "no texts", len(must.Get(e.Embed(t.Context(), nil, true))(t)), 0)
}

func TestEndpointRefusesBadURLs(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"", "ftp://x/v1", "http://", "https://me:secret@host/v1", "https://host/v1?key=secret", "https://host/v1#x", "http://host/" + strings.Repeat("x", 3000)} {
		_, err := NewEndpoint(EndpointOptions{URL: u})
		must.Kind(t, u, err, amber.KindInvalid)
		must.Hides(t, u, err.Error(), "secret")
	}
}

// numbers writes n numbers, each x, as JSON.
func numbersOf(n int, x string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(x+",", n), ",") + "]"
}

// A server that answers anything else than it was asked for is an error of its own kind,
// which names the endpoint and repeats neither text nor key nor answer.
func TestEndpointChecksAnswers(t *testing.T) {
	t.Parallel()
	one := `{"index":0,"embedding":` + numbersOf(32, "0.5") + `}`
	for name, c := range map[string]struct {
		status int
		kind   string // content type
		body   string
		want   amber.Kind
		says   string
	}{
		"unauthorised":       {401, "", "the key KEY is wrong for TEXT", amber.KindRefused, "401"},
		"forbidden":          {403, "", "", amber.KindRefused, "403"},
		"no such model":      {404, "", "TEXT", amber.KindInvalid, "404"},
		"bad request":        {400, "", "", amber.KindInvalid, "400"},
		"redirect":           {302, "", "", amber.KindInvalid, "302"},
		"too many":           {429, "", "", amber.KindUnreachable, "429"},
		"server error":       {500, "", "", amber.KindUnreachable, "500"},
		"a page":             {200, "text/html", "<html>", amber.KindDamaged, "application/json"},
		"not JSON":           {200, "application/json", "TEXT", amber.KindDamaged, "not JSON"},
		"cut off":            {200, "application/json", `{"data":[` + one[:20], amber.KindDamaged, "not JSON"},
		"no data":            {200, "application/json", `{}`, amber.KindDamaged, "0 vectors, want 2"},
		"too few":            {200, "application/json", `{"data":[` + one + `]}`, amber.KindDamaged, "1 vectors, want 2"},
		"too many vectors":   {200, "application/json", `{"data":[` + one + `,` + one + `,` + one + `]}`, amber.KindDamaged, "3 vectors, want 2"},
		"twice one index":    {200, "application/json", `{"data":[` + one + `,` + one + `]}`, amber.KindDamaged, "index 0"},
		"index out of range": {200, "application/json", `{"data":[` + one + `,{"index":9,"embedding":[]}]}`, amber.KindDamaged, "index 9"},
		"negative index":     {200, "application/json", `{"data":[` + one + `,{"index":-1,"embedding":[]}]}`, amber.KindDamaged, "index -1"},
		"too small":          {200, "application/json", `{"data":[` + one + `,{"index":1,"embedding":[1,2]}]}`, amber.KindDamaged, "2 numbers"},
		"too large":          {200, "application/json", `{"data":[` + one + `,{"index":1,"embedding":` + numbersOf(maxDim+1, "1") + `}]}`, amber.KindDamaged, "4097 numbers"},
		"different lengths":  {200, "application/json", `{"data":[` + one + `,{"index":1,"embedding":` + numbersOf(33, "1") + `}]}`, amber.KindDamaged, "33 numbers, earlier ones have 32"},
		"no direction":       {200, "application/json", `{"data":[` + one + `,{"index":1,"embedding":` + numbersOf(32, "0") + `}]}`, amber.KindDamaged, "no direction"},
		"overflow":           {200, "application/json", `{"data":[` + one + `,{"index":1,"embedding":` + numbersOf(32, "1e999") + `}]}`, amber.KindDamaged, "not JSON"},
		"text as number":     {200, "application/json", `{"data":[` + one + `,{"index":1,"embedding":["NaN"]}]}`, amber.KindDamaged, "not JSON"},
		"endless":            {200, "application/json", `{"data":[` + strings.Repeat(" ", bytesOfAnswer+2*maxDim*bytesPerNumber) + `]}`, amber.KindDamaged, "more than"},
		"deep":               {200, "application/json", strings.Repeat(`{"data":[`, 20_000), amber.KindDamaged, "not JSON"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if c.kind != "" {
				w.Header().Set("Content-Type", c.kind)
			}
			if c.status == http.StatusFound {
				w.Header().Set("Location", "/elsewhere")
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		e := must.Get(NewEndpoint(EndpointOptions{URL: s.URL, Key: "KEY"}))(t)
		_, err := e.Embed(t.Context(), []string{"TEXT", "b"}, false)
		must.Kind(t, name, err, c.want, c.says, s.URL)
		must.Hides(t, name, fmt.Sprint(err, amber.HintOf(err)), "TEXT", "KEY")
		s.Close()
	}
}

// Vectors of one endpoint have one length, whichever request made them.
func TestEndpointKeepsItsDimension(t *testing.T) {
	t.Parallel()
	n := minDim
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"data":[{"embedding":%s}]}`, numbersOf(n, "1e300"))
	}))
	defer s.Close()
	e := must.Get(NewEndpoint(EndpointOptions{URL: s.URL, Transport: jsonTransport{}}))(t)
	v := must.Get(e.Embed(t.Context(), []string{"a"}, false))(t)[0]
	must.Hold(t, math.Abs(float64(v[0])-0.25) < 1e-6, "a vector of large numbers begins with %v, want 0.25", v[0])
	n++
	_, err := e.Embed(t.Context(), []string{"a"}, false)
	must.Kind(t, "another length", err, amber.KindDamaged, "17 numbers, earlier ones have 16")
}

// jsonTransport calls every answer JSON.
type jsonTransport struct{}

func (jsonTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		answer.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	return answer, err
}

func TestEndpointThatIsNotThereIsUnreachable(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	e := must.Get(NewEndpoint(EndpointOptions{URL: s.URL}))(t)
	_, err := e.Embed(t.Context(), []string{"a"}, true)
	must.Kind(t, "closed server", err, amber.KindUnreachable, s.URL)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = e.Embed(ctx, []string{"a"}, true)
	must.Is(t, "ended context", err, context.Canceled)
}
