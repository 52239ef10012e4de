package embed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/httpcall"
)

// EndpointOptions say where vectors are made. URL is required.
type EndpointOptions struct {
	// URL is that of an API of embeddings as OpenAI and Ollama have it, as in
	// http://127.0.0.1:11434/v1, or of its method /embeddings.
	URL   string
	Model string // the name of the model there; "" leaves it to the server
	Key   string // is sent as a bearer token; "" sends none
	// Transport carries the requests; nil: the usual one.
	Transport http.RoundTripper
}

// Endpoint makes vectors with a server. It is safe for concurrent use.
type Endpoint struct {
	o    EndpointOptions
	url  string
	http *http.Client
	dim  atomic.Int64 // of all its vectors; 0: none was made yet
}

const (
	endpointBatch   = 32 // texts of one request
	passageWait     = 30 * time.Second
	questionWait    = 5 * time.Second // a person waits for the answer
	minDim          = 16
	maxDim          = 4096
	bytesPerNumber  = 32
	bytesOfAnswer   = 64 << 10
	maxEndpointURL  = 2048
	methodOfAPI     = "/embeddings"
	maxEndpointName = 256
)

// NewEndpoint returns a model that a server runs. Nothing is sent yet. Errors: invalid.
func NewEndpoint(o EndpointOptions) (*Endpoint, error) {
	const op = "use embeddings endpoint"
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || len(o.URL) > maxEndpointURL || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, amber.Errorf(amber.KindInvalid, op, "", "the address is not a URL of http or https")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, amber.Errorf(amber.KindInvalid, op, "", "the URL has a user, a query or a fragment, want none")
	case len(o.Model) > maxEndpointName:
		return nil, amber.Errorf(amber.KindInvalid, op, "", "the name of the model has %d bytes, want at most %d", len(o.Model), maxEndpointName)
	}
	to := strings.TrimRight(o.URL, "/")
	if !strings.HasSuffix(to, methodOfAPI) {
		to += methodOfAPI
	}
	transport := o.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	return &Endpoint{o: o, url: to, http: &http.Client{
		Transport:     transport,
		CheckRedirect: httpcall.NoRedirect, // the key is for this server alone
	}}, nil
}

// Name returns the URL and the name of the model. The key is no part of it.
func (e *Endpoint) Name() string { return strings.TrimSpace(e.url + " " + e.o.Model) }

// Embed asks the server for the vectors of texts, some at a time; questions and passages
// alike. Nothing is tried twice. Errors: unreachable, refused, damaged for an answer that
// is not what was asked for; each names the endpoint and never a text.
func (e *Endpoint) Embed(ctx context.Context, texts []string, question bool) ([][]float32, error) {
	wait := passageWait
	if question {
		wait = questionWait
	}
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := min(len(texts), endpointBatch)
		some, err := e.ask(ctx, texts[:n], wait)
		if err != nil {
			return nil, err
		}
		out, texts = append(out, some...), texts[n:]
	}
	return out, nil
}

// ask makes one request.
func (e *Endpoint) ask(ctx context.Context, texts []string, wait time.Duration) ([][]float32, error) {
	body, err := json.Marshal(struct {
		Model string   `json:"model,omitempty"`
		Input []string `json:"input"`
	}{e.o.Model, texts})
	if err != nil {
		return nil, e.failed(amber.KindInternal, "the request cannot be written: %v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, e.failed(amber.KindInvalid, "the request cannot be made: %v", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if e.o.Key != "" {
		r.Header.Set("Authorization", "Bearer "+e.o.Key)
	}
	answer, err := e.http.Do(r)
	if err != nil {
		return nil, e.unreachable(ctx, err)
	}
	defer answer.Body.Close()
	if err := e.checkStatus(answer); err != nil {
		return nil, err
	}
	most := int64(bytesOfAnswer + len(texts)*maxDim*bytesPerNumber)
	data, whole, err := httpcall.Read(answer.Body, most)
	switch {
	case err != nil:
		return nil, e.unreachable(ctx, err)
	case !whole:
		return nil, e.failed(amber.KindDamaged, "the answer has more than %d bytes", most)
	}
	return e.vectors(data, len(texts))
}

func (e *Endpoint) failed(kind amber.Kind, format string, args ...any) error {
	return amber.Errorf(kind, "make vectors", e.url, format, args...)
}

// unreachable says why there is no answer.
func (e *Endpoint) unreachable(ctx context.Context, err error) error {
	return &amber.Error{Op: "make vectors", Kind: amber.KindUnreachable, ID: e.url, Err: httpcall.Lost(ctx, err)}
}

// checkStatus refuses answers that are no success. The text of such an answer may repeat a text or
// a key, so the error does not show it.
func (e *Endpoint) checkStatus(r *http.Response) error {
	switch {
	case r.StatusCode == http.StatusOK:
		kind, _, err := mime.ParseMediaType(cmp.Or(r.Header.Get("Content-Type"), "application/json"))
		if err != nil || kind != "application/json" {
			return e.failed(amber.KindDamaged, "the answer is not application/json")
		}
		return nil
	case r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden:
		return amber.Errorf(amber.KindRefused, "make vectors", e.url, "the server answers %d", r.StatusCode).
			WithHint("set search.key_env to the name of a variable that holds the key")
	case r.StatusCode == http.StatusNotFound || r.StatusCode == http.StatusBadRequest:
		return amber.Errorf(amber.KindInvalid, "make vectors", e.url, "the server answers %d", r.StatusCode).
			WithHint("check search.model and search.model_name")
	case r.StatusCode >= 500 || r.StatusCode == http.StatusTooManyRequests:
		return e.failed(amber.KindUnreachable, "the server answers %d", r.StatusCode)
	}
	return e.failed(amber.KindInvalid, "the server answers %d, want 200", r.StatusCode)
}
