package pgtest

import (
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Message is one message of the protocol that PostgreSQL and its clients speak (version 3).
type Message struct {
	Conn int  // which connection, from 1 in the order they came
	N    int  // which message of its direction on this connection, from 0
	Type byte // as in the protocol; 0 for the first message of a client, which has no type
	Body []byte
}

// Query is the text of the statement that a message of a client carries: one of the simple
// protocol (Q) or one to be prepared (P). It is empty for all other messages.
func (m Message) Query() string {
	text := string(m.Body)
	switch m.Type {
	case 'Q':
	case 'P':
		_, text, _ = strings.Cut(text, "\x00") // behind the name of the statement
	default:
		return ""
	}
	text, _, _ = strings.Cut(text, "\x00")
	return text
}

var commit = regexp.MustCompile(`(?i)(^|;)\s*(commit|end)\b`)

// IsCommit reports whether a message of a client ends a transaction. It does not know a COMMIT
// that was prepared under a name before.
func (m Message) IsCommit() bool { return commit.MatchString(m.Query()) }

// The codes of what a client sends first instead of a startup message.
const (
	codeCancel = 80877102
	codeTLS    = 80877103
	codeGSS    = 80877104
)

// maxBody bounds a message. PostgreSQL itself has 1 GB.
const maxBody = 1 << 28

// readFirst reads a message without a type, and returns its code.
func readFirst(r io.Reader) (Message, uint32, error) {
	m, err := readBody(r, 0)
	if err == nil && len(m.Body) < 4 {
		err = fmt.Errorf("the first message has %d bytes, want at least 4", len(m.Body))
	}
	if err != nil {
		return m, 0, err
	}
	return m, binary.BigEndian.Uint32(m.Body), nil
}

// readMessage reads a message with a type.
func readMessage(r io.Reader) (Message, error) {
	var kind [1]byte
	if _, err := io.ReadFull(r, kind[:]); err != nil {
		return Message{}, err
	}
	return readBody(r, kind[0])
}

func readBody(r io.Reader, kind byte) (Message, error) {
	m := Message{Type: kind}
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return m, err
	}
	n := binary.BigEndian.Uint32(length[:]) // counts itself
	if n < 4 || n > maxBody {
		return m, fmt.Errorf("a message of type %q says it has %d bytes", kind, n)
	}
	m.Body = make([]byte, n-4)
	_, err := io.ReadFull(r, m.Body)
	return m, err
}

// bytes is the message as it travels.
func (m Message) bytes() []byte {
	out := make([]byte, 0, len(m.Body)+5)
	if m.Type != 0 {
		out = append(out, m.Type)
	}
	out = binary.BigEndian.AppendUint32(out, uint32(len(m.Body)+4))
	return append(out, m.Body...)
}
