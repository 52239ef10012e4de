package op

import (
	"context"
	"io"
	"log/slog"
	"reflect"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Call is one call of an operation: the agent it works on, who asks, and what it says beside its answer.
type Call struct {
	*Agent
	Caller Caller
	House  *House
	// Host is the connection of a tool; nil where no tool is called.
	Host *Host
	// Again says that it is done once more, because the answer to the first time is not kept any more.
	Again bool
	// File is what was uploaded, and Writer where a file is written to; nil where the operation has none.
	File   *File
	Writer FileWriter
	// Head says that only the form of a file is asked for, and nothing of its content.
	Head bool
	// Clean takes secrets out of a text; nil: nothing is taken.
	Clean func(text string) string

	// Tag is the ETag of the answer, without quotes.
	Tag string
	// Subject is the id that the call was about; "": the last one in the path.
	Subject string
	// Did are the ids of everything that was changed, where that may be several: each is an entry of the audit log, also when something
	// failed after them.
	Did []string
	// Redacted says what the operation itself took out of the request, by rule; nil: what the store took out counts.
	Redacted map[string]int
	// Undo takes back what was done and could not be written down; nil: it stays.
	Undo func(ctx context.Context)
	// Unrecorded is set where something was done that could not be written down.
	Unrecorded bool
}

// House is what belongs to a home and to no agent. Parts that are nil are not there.
type House struct {
	Clock  amber.Clock
	Random io.Reader
	Log    *slog.Logger
	Audit  wire.AuditLog
	Tokens wire.Tokens
	// Names names the agents of a tenant, or of every one for "", sorted; it may name others.
	Names func(ctx context.Context, tenant amber.TenantID) ([]wire.AgentName, error)
	// Alone waits until no other request changes those parts of an agent that have no revisions, above all its notes.
	Alone func(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (unlock func(), err error)
	// Made writes down that a caller has made an agent by a call that was not its own.
	Made func(ctx context.Context, c Caller, tenant amber.TenantID, agent amber.AgentID) error
	// Exchange takes in and gives out what other programs remember.
	Exchange Exchange
}

// Redact takes secrets out of a text that is written elsewhere than to the store.
func (c *Call) Redact(text string) string {
	if c.Clean == nil {
		return text
	}
	return c.Clean(text)
}

// Do implements [Where]: the agent is open in this process.
func (c *Call) Do(ctx context.Context, r *Row, in, out any) error {
	got, err := r.call(ctx, c, in)
	if got != nil {
		reflect.ValueOf(out).Elem().Set(reflect.ValueOf(got))
	}
	return err
}

// File is a body in a file of this machine.
type File struct {
	Path string
	Size int64
}

// Upload is a file as the caller of a server sends it, which is read once.
type Upload struct {
	Reader io.Reader
	Size   int64 // 0: not known
}

// Download is in the input of what answers a file, and says where the caller of a server has it written to. Something may have been written
// also when the call fails.
type Download struct{ Into io.Writer }

// Target is the writer; where there is none, the file goes nowhere.
func (d Download) Target() io.Writer {
	if d.Into == nil {
		return io.Discard
	}
	return d.Into
}

// FileWriter is where a file is written to. Folder is called before the first byte of a file that holds several.
type FileWriter interface {
	io.Writer
	Folder()
}
