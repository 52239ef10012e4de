package mcpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/amber-memory/amber/internal/base/clip"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxAnswer bounds the answer to one message: the largest payload of a queue,
// escaped. Tools that only read answer with far less.
const maxAnswer = 32 << 20

// smallAnswer is the length up to which an answer goes out without a further check.
const smallAnswer = 16 << 10

// caught is an answer that is held until it is whole and known to be bounded.
type caught struct {
	header http.Header
	status int
	body   []byte
	most   int
	more   bool // there was more than may be
}

// Header implements [http.ResponseWriter].
func (c *caught) Header() http.Header { return c.header }

// WriteHeader implements [http.ResponseWriter].
func (c *caught) WriteHeader(status int) { c.status = status }

// Write implements [http.ResponseWriter].
func (c *caught) Write(b []byte) (int, error) {
	if c.more = c.more || len(c.body)+len(b) > c.most; !c.more {
		c.body = append(c.body, b...)
	}
	return len(b), nil
}

func (c *caught) isJSON() bool { return c.header.Get("Content-Type") == "application/json" }

// bound replaces an answer that is too large, and cuts what an error says: the
// SDK repeats what it was sent.
func (c *caught) bound(id json.RawMessage) {
	switch {
	case c.more:
		c.body = refused{id: id, code: jsonrpc.CodeInternalError, why: fmt.Sprintf("the answer has more than %d bytes", c.most)}.answer()
	case len(c.body) <= smallAnswer:
	case !c.isJSON():
		c.body = []byte(clip.Marked(string(c.body), maxErrorBytes))
	default:
		c.body = shortError(c.body)
	}
}

// shortError cuts the message of an answer that is an error.
func shortError(answer []byte) []byte {
	m, err := jsonrpc.DecodeMessage(answer)
	if err != nil {
		return answer
	}
	if r, ok := m.(*jsonrpc.Response); ok && clipError(r) {
		if b, err := jsonrpc.EncodeMessage(r); err == nil {
			return b
		}
	}
	return answer
}

// send writes an answer. Callers who do not take it within the time of one call
// are cut off, so that they do not keep its room.
func (d *door) send(w http.ResponseWriter, status int, header http.Header, body []byte) {
	maps.Copy(w.Header(), header)
	w.WriteHeader(status)
	rc := http.NewResponseController(w)
	// Deadlines of connections are those of the machine's clock, so a timer counts.
	t := time.AfterFunc(d.shared.Timeout, func() { _ = rc.SetWriteDeadline(time.Unix(1, 0)) })
	defer t.Stop()
	_, _ = w.Write(body) // the caller may be gone
	_ = rc.Flush()
}
