package mcpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Bounds of what one request over HTTP, or one line over stdio, may ask for.
// Bytes alone bound little: every message of a batch has an answer of its own,
// and every value in it takes many times its bytes once it is decoded.
const (
	MaxBatch = 64 // messages of a batch

	maxValues  = 200_000 // of all messages together; the SDK bounds how deep they are
	maxMembers = 16      // of a message whose id is looked for

	maxIDBytes     = 256
	maxMethodBytes = 256
	maxMetaBytes   = 64 << 10 // of "_meta", which is decoded whole
)

// shape is what a text of JSON is made of. It is counted without decoding the
// text, which need not be valid.
type shape struct {
	values   int // at least as many as there are
	elements int // of the outermost list or object
}

func shapeOf(text []byte) shape {
	s := shape{values: 1}
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted:
			if c == '\\' {
				i++
			} else if c == '"' {
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '[' || c == '{':
			depth++
			s.values++
		case c == ']' || c == '}':
			depth--
		case c == ',':
			s.values++
			if depth == 1 {
				s.elements++
			}
		}
	}
	s.elements++
	return s
}

// unpack returns the messages of a text and whether they are a batch. The
// refusal is about the text as a whole, which then asked for nothing.
func unpack(text []byte) (messages []json.RawMessage, batch bool, bad *refused) {
	text = bytes.TrimSpace(text)
	batch = len(text) > 0 && text[0] == '['
	s := shapeOf(text)
	switch {
	case batch && s.elements > MaxBatch:
		bad = refuseFor(nil, fmt.Sprintf("the batch has %d messages, want at most %d: send several", s.elements, MaxBatch))
	case !json.Valid(text):
		bad = refuseFor(nil, "the message is not valid JSON")
		bad.code = jsonrpc.CodeParseError
	case s.values > maxValues:
		bad = refuseFor(idOf(text, batch, s), fmt.Sprintf("there are about %d values, want at most %d: send several messages", s.values, maxValues))
	case !batch:
		messages = []json.RawMessage{text}
	case json.Unmarshal(text, &messages) != nil || len(messages) == 0:
		bad = refuseFor(nil, "there is no message in the list")
	}
	return messages, batch, bad
}

// idOf returns the id of a message that is not decoded whole, or nil.
func idOf(text []byte, batch bool, s shape) json.RawMessage {
	var m map[string]json.RawMessage
	if batch || s.elements > maxMembers || json.Unmarshal(text, &m) != nil || badID(m["id"]) != "" {
		return nil
	}
	return m["id"]
}

// refused is a message that is not taken; a nil id is null.
type refused struct {
	id   json.RawMessage
	code int64
	why  string
	data json.RawMessage // may be nil
}

func refuseFor(id json.RawMessage, why string) *refused {
	return &refused{id: id, code: jsonrpc.CodeInvalidRequest, why: why}
}

// answer is what the caller gets.
func (r refused) answer() []byte {
	if r.id == nil {
		r.id = json.RawMessage("null")
	}
	b, _ := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", r.id, &jsonrpc.Error{Code: r.code, Message: r.why, Data: r.data}})
	return b
}

// head is what a message is known by.
type head struct {
	id     json.RawMessage // nil: a notification, or an answer
	method string
}

// headOf reads the head of one message, and refuses what could not be answered
// as it was asked: ids are sent back, and the SDK keeps numbers as floats.
func headOf(message []byte) (head, *refused) {
	var m map[string]json.RawMessage
	if json.Unmarshal(message, &m) != nil {
		return head{}, refuseFor(nil, "this is not a message of JSON-RPC 2.0")
	}
	h := head{id: m["id"]}
	if why := badID(h.id); why != "" {
		return head{}, refuseFor(nil, why)
	}
	if len(m["method"]) > maxMethodBytes {
		return h, refuseFor(h.id, fmt.Sprintf("the method has %d bytes, want at most %d", len(m["method"]), maxMethodBytes))
	}
	_ = json.Unmarshal(m["method"], &h.method) // the SDK says what is wrong with one that is no string
	var p map[string]json.RawMessage
	if json.Unmarshal(m["params"], &p) == nil && len(p["_meta"]) > maxMetaBytes {
		return h, refuseFor(h.id, fmt.Sprintf("_meta has %d bytes, want at most %d", len(p["_meta"]), maxMetaBytes))
	}
	return h, nil
}

// badID says why an id is refused, or nothing.
func badID(id json.RawMessage) string {
	if len(id) > maxIDBytes {
		return fmt.Sprintf("the id has %d bytes, want at most %d", len(id), maxIDBytes)
	}
	var n float64
	if json.Unmarshal(id, &n) == nil && (n != math.Trunc(n) || math.Abs(n) >= 1<<53) {
		return "the id is a number that is not whole or not below 2^53: use a string"
	}
	return ""
}
