package natsbus

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
)

const (
	publishOp = "publish event"

	// payloadHeader is "omitted" where the payload of an event was left out.
	payloadHeader = "Amber-Payload"

	// maxMsgID bounds the id a server is given; those of events have at most
	// 1024 bytes.
	maxMsgID = 1024
)

// message is an event on its way.
type message struct {
	event events.Event
	full  *nats.Msg
}

// encode makes a message of an event. The error is of kind invalid.
func encode(e events.Event) (message, error) {
	fail := func(why string) (message, error) {
		return message{}, amber.Errorf(amber.KindInvalid, publishOp, e.ID, "%s", why)
	}
	switch {
	case e.ID == "":
		return fail("the event has no id")
	case !validSubject(e.Subject):
		return fail("subject of the event is not valid: want letters, digits, _ and - joined by dots")
	}
	msg, err := natsMessage(e)
	if err != nil {
		return fail("payload of the event cannot be written as JSON")
	}
	return message{event: e, full: msg}, nil
}

// bare returns the message without the payload: that it happened is told also
// where the server does not take how.
func (m message) bare() (*nats.Msg, error) {
	e := m.event
	e.Payload = nil
	msg, err := natsMessage(e)
	if err == nil {
		msg.Header.Set(payloadHeader, "omitted")
	}
	return msg, err
}

func natsMessage(e events.Event) (*nats.Msg, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	msg := nats.NewMsg(e.Subject)
	msg.Data = body
	msg.Header.Set(nats.MsgIdHdr, msgID(e.ID))
	return msg, nil
}

// msgID returns the id of an event as a header can hold it: the id itself, or
// its hash where a header would change it.
func msgID(id string) string {
	odd := strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) })
	if odd || !utf8.ValidString(id) || len(id) > maxMsgID || strings.TrimSpace(id) != id {
		sum := sha256.Sum256([]byte(id))
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	return id
}
