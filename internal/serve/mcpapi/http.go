package mcpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
)

// NewHandler returns the server over streamable HTTP, for callers that are known. The agent is the one of the path
// values "tenant" and "agent", else that of the grant, else the default one. There are no sessions: every request
// has a server of its own, so no caller can use that of another. The handler bounds what a request asks for, and
// what all requests of the callers hold together. Errors: invalid.
func NewHandler(o Options) (func(w http.ResponseWriter, r *http.Request, who op.Caller), error) {
	o, tools, err := o.check()
	if err != nil {
		return nil, err
	}
	d := &door{shared: newShared(o, tools), streams: make(chan struct{}, maxStreams)}
	d.inner = mcp.NewStreamableHTTPHandler(
		func(r *http.Request) *mcp.Server { return serverOf(r.Context()) },
		&mcp.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true, Logger: warnings(o.Log), MaxRequestBodyBytes: o.MaxBytes,
			DisableLocalhostProtection: o.AnyHost, PropagateRequestCancellation: true,
		},
	)
	return d.serve, nil
}

// door is the handler: it bounds requests before the SDK sees them, and answers
// before callers do.
type door struct {
	shared  *shared
	inner   http.Handler
	streams chan struct{} // one element for each stream that is open
}

// toolBytes is how much of what is stored a tool reads for its answer: a page.
const toolBytes = amber.MaxPageBytes

// maxStreams bounds how many callers may wait for notifications at a time. The server never sends one: its lists do
// not change while a client is connected.
const maxStreams = 32

// serve answers a request of a caller.
func (d *door) serve(w http.ResponseWriter, r *http.Request, who op.Caller) {
	tenant := cmp.Or(amber.TenantID(r.PathValue("tenant")), who.Grant.Tenant, amber.DefaultTenant)
	agent := cmp.Or(amber.AgentID(r.PathValue("agent")), who.Grant.Agent, amber.DefaultAgent)
	b := newBound(d.shared, who, tenant, agent)
	// Older versions of the protocol would go on without the caller.
	b.left = func(gone func()) func() bool { return context.AfterFunc(r.Context(), gone) }
	r = r.WithContext(withServer(r.Context(), b.server()))
	if r.Method != http.MethodPost {
		d.inner.ServeHTTP(w, r)
		return
	}
	held, err := d.enter(r, tenant, who.Actor())
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, amber.KindBusy, refuseFor(nil, err.Error()))
		return
	}
	defer held.Leave()
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, d.shared.MaxBytes))
	if err != nil {
		d.refuseBody(w, err)
		return
	}
	d.answer(w, r, text)
}

// enter waits until the budget has room, for no longer than a call may take.
func (d *door) enter(r *http.Request, tenant amber.TenantID, actor string) (*server.Held, error) {
	ctx, cancel := context.WithTimeout(r.Context(), d.shared.Timeout)
	defer cancel()
	length := r.ContentLength
	if length < 0 || length > d.shared.MaxBytes {
		length = d.shared.MaxBytes
	}
	return d.shared.Budget.Enter(ctx, tenant, actor, server.Weight(length+toolBytes))
}

func (d *door) refuseBody(w http.ResponseWriter, err error) {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		refuse(w, http.StatusRequestEntityTooLarge, amber.KindInvalid, refuseFor(nil, fmt.Sprintf("the request has more than %d bytes", large.Limit)))
		return
	}
	refuse(w, http.StatusBadRequest, amber.KindInvalid, refuseFor(nil, "the body of the request ended early"))
}

// refuse answers a request as a whole.
func refuse(w http.ResponseWriter, status int, kind amber.Kind, bad *refused) {
	bad.data, _ = json.Marshal(failureOf(amber.Errorf(kind, "read request", "", "%s", bad.why)))
	w.Header().Set("Content-Type", "application/json")
	if kind == amber.KindBusy {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_, _ = w.Write(bad.answer())
}

// answer answers the messages of a request.
func (d *door) answer(w http.ResponseWriter, r *http.Request, text []byte) {
	messages, batch, bad := unpack(text)
	if bad != nil {
		refuse(w, http.StatusBadRequest, amber.KindInvalid, bad)
		return
	}
	if batch {
		d.answerBatch(w, r, messages)
		return
	}
	h, bad := headOf(messages[0])
	switch {
	case bad != nil:
		refuse(w, http.StatusBadRequest, amber.KindInvalid, bad)
	case h.method == "subscriptions/listen":
		d.listen(w, with(r, messages[0]))
	default:
		c := d.ask(r, h, messages[0])
		d.send(w, c.status, c.header, c.body)
	}
}

// with is a request with another body.
func with(r *http.Request, body []byte) *http.Request {
	r = r.WithContext(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return r
}

// ask has one message answered.
func (d *door) ask(r *http.Request, h head, message []byte) *caught {
	c := &caught{header: http.Header{}, status: http.StatusOK, most: maxAnswer}
	d.inner.ServeHTTP(c, with(r, message))
	c.bound(h.id)
	return c
}

// listen opens a stream, for as long as the longest call may take.
func (d *door) listen(w http.ResponseWriter, r *http.Request) {
	select {
	case d.streams <- struct{}{}:
		defer func() { <-d.streams }()
	default:
		refuse(w, http.StatusServiceUnavailable, amber.KindBusy, refuseFor(nil, fmt.Sprintf("%d streams are open, want at most that many", maxStreams)))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), d.shared.LongTimeout)
	defer cancel()
	d.inner.ServeHTTP(w, r.WithContext(ctx))
}

// serverKey is the key of a request's own server in its context.
type serverKey struct{}

func withServer(ctx context.Context, s *mcp.Server) context.Context {
	return context.WithValue(ctx, serverKey{}, s)
}

func serverOf(ctx context.Context) *mcp.Server {
	s, _ := ctx.Value(serverKey{}).(*mcp.Server)
	return s
}
