package mcpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/base/clip"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio returns the transport of a server that reads one message per line and
// writes one per line. A line that is no message, or has more than
// [MaxMessageBytes], is answered with an error and the next one is read. When
// in ends, what was asked before is answered first. Nothing else is written to
// out. Several messages in one line, as old versions of the protocol have it,
// are answered one line each; there are at most [MaxBatch].
func Stdio(in io.Reader, out io.Writer) mcp.Transport { return stdio{in, out, MaxMessageBytes} }

type stdio struct {
	in   io.Reader
	out  io.Writer
	most int // bytes of a line
}

// maxPending bounds how many calls are being answered at a time; more are not
// read until one is.
const maxPending = 64

// Connect implements [mcp.Transport].
func (t stdio) Connect(context.Context) (mcp.Connection, error) {
	c := &lineConn{out: t.out, lines: make(chan line), closed: make(chan struct{}), pending: map[jsonrpc.ID]bool{}, changed: make(chan struct{})}
	// It cannot be woken while it reads: it ends with its next line, or with the
	// process.
	go c.read(t.in, t.most)
	return c, nil
}

// line is one line of input, or what is wrong with it.
type line struct {
	text []byte
	bad  *jsonrpc.Error // it is answered and left out
	err  error          // there are no more
}

// lineConn is one connection.
type lineConn struct {
	lines  chan line
	queue  []jsonrpc.Message // of one line; of Read alone
	closed chan struct{}
	once   sync.Once

	writing sync.Mutex // one line at a time
	out     io.Writer

	mu      sync.Mutex
	pending map[jsonrpc.ID]bool // calls that have no answer yet
	changed chan struct{}       // closed when one got it, then replaced
}

// read hands lines over until there are no more.
func (c *lineConn) read(in io.Reader, most int) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		l := readLine(r, most)
		select {
		case c.lines <- l:
		case <-c.closed:
			return
		}
		if l.err != nil {
			return
		}
	}
}

// readLine reads one line. It keeps no more than most bytes of a line in memory, however long the line is.
func readLine(r *bufio.Reader, most int) line {
	var text []byte
	for long := false; ; {
		part, err := r.ReadSlice('\n')
		if long = long || len(text)+len(part) > most+1; !long {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(text) == 0 && !long:
			return line{err: err}
		case long:
			return line{bad: &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("the message has more than %d bytes", most)}}
		}
		return line{text: bytes.TrimSpace(text)} // the next read has the error again
	}
}

// Read implements [mcp.Connection].
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if len(c.queue) > 0 {
			m := c.queue[0]
			c.queue = c.queue[1:]
			if c.accept(ctx, m) {
				return m, nil
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case l := <-c.lines:
			if l.err != nil {
				// A client that has ended the input still wants its answers.
				c.wait(ctx, 0)
				return nil, io.EOF
			}
			c.take(l)
		}
	}
}

// take puts the messages of a line into the queue and answers with an error for
// a line that is not a message.
func (c *lineConn) take(l line) {
	switch {
	case l.bad != nil:
		c.refuse(l.bad.Code, l.bad.Message)
	case len(l.text) == 0:
	case !utf8.Valid(l.text): // the decoder would replace what is not
		c.refuse(jsonrpc.CodeParseError, "the message is not valid UTF-8")
	default:
		messages, _, bad := unpack(l.text)
		if bad != nil {
			_ = c.writeLine(bad.answer())
		}
		for _, m := range messages {
			c.decode(m)
		}
	}
}

func (c *lineConn) decode(text []byte) {
	if _, bad := headOf(text); bad != nil {
		_ = c.writeLine(bad.answer())
		return
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		c.refuse(jsonrpc.CodeInvalidRequest, clip.Marked("not a message of JSON-RPC 2.0: "+err.Error(), 300))
		return
	}
	c.queue = append(c.queue, m)
}

// accept notes a call, once there is room for one more, and says whether it is
// to be handed on.
func (c *lineConn) accept(ctx context.Context, m jsonrpc.Message) bool {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return true
	}
	if !r.ID.IsValid() {
		c.cancelled(r)
		return true
	}
	c.wait(ctx, maxPending-1)
	c.mu.Lock()
	used := c.pending[r.ID]
	c.pending[r.ID] = true
	c.mu.Unlock()
	if used {
		c.refuse(jsonrpc.CodeInvalidRequest, "the id is in use by a request that is not answered yet")
	}
	return !used
}

// cancelled lets a call go whose answer the client no longer wants.
func (c *lineConn) cancelled(r *jsonrpc.Request) {
	var p struct {
		RequestID any `json:"requestId"`
	}
	if r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &p) != nil {
		return
	}
	if id, err := jsonrpc.MakeID(p.RequestID); err == nil {
		c.answered(id)
	}
}

// wait waits until at most n calls have no answer, or the connection ends.
func (c *lineConn) wait(ctx context.Context, n int) {
	for {
		c.mu.Lock()
		left, changed := len(c.pending), c.changed
		c.mu.Unlock()
		if left <= n {
			return
		}
		select {
		case <-changed:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (c *lineConn) answered(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[id] {
		delete(c.pending, id)
		close(c.changed)
		c.changed = make(chan struct{})
	}
}

// refuse answers what is no message, so it has no id to name.
func (c *lineConn) refuse(code int64, why string) {
	// When the client no longer reads, writing the next answer fails, too, and that error is returned.
	_ = c.writeLine(refused{code: code, why: why}.answer())
}

// Write implements [mcp.Connection].
func (c *lineConn) Write(_ context.Context, m jsonrpc.Message) error {
	r, answers := m.(*jsonrpc.Response)
	if answers {
		clipError(r)
	}
	b, err := jsonrpc.EncodeMessage(m)
	if err == nil {
		err = c.writeLine(b)
	}
	if answers {
		c.answered(r.ID)
	}
	return err
}

func (c *lineConn) writeLine(b []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(b, '\n'))
	return err
}

// Close implements [mcp.Connection].
func (c *lineConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID implements [mcp.Connection].
func (c *lineConn) SessionID() string { return "" }
