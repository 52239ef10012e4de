package op

import (
	"context"
	"reflect"

	"github.com/amber-memory/amber"
)

// Hint says what a call of a tool may do, for hosts that ask a person before.
type Hint uint8

// The hints of tools; a tool may have several.
const (
	Destroys Hint = 1 << iota // something that was there is changed or gone afterwards
	Again                     // doing it twice is as doing it once
	Changing                  // some calls change something, though its operation only reads
)

// Tool is an operation as agents call it over MCP. Tags of the fields of its arguments say what a host is told about them:
//
//	json     the name
//	doc      what the name does not say
//	need     "yes": a call without it is refused
//	enum     the words that it may be, where the type does not say them
//	range    the least and the most of a number; 0 is as if it were left out
//	default  of a number that is left out
//	type     of a document: object; else any
//
// An answer is the data for programs and a text for readers. Each byte of a schema is paid for with every prompt, so the schema
// of an answer has few of its fields: those that Shows names, or the tag shows of a field for what is in it: "*" is all of them as in
// arguments, "-" none.
type Tool struct {
	Op               *Row // says what a caller needs
	Name, Title, Use string
	Hints            Hint
	Shows            string // "": every field
	Args, Data       reflect.Type

	call func(ctx context.Context, c *Call, args any) (any, string, error)
}

// NewTool declares a tool.
func NewTool[Args, Data any](t Tool, fn func(ctx context.Context, c *Call, in Args) (Data, string, error)) *Tool {
	t.Args, t.Data = reflect.TypeFor[Args](), reflect.TypeFor[Data]()
	t.call = func(ctx context.Context, c *Call, in any) (any, string, error) { return fn(ctx, c, in.(Args)) }
	return &t
}

// Answer calls the tool with its arguments, and returns the data and the text.
func (t *Tool) Answer(ctx context.Context, c *Call, args any) (data any, text string, err error) {
	return t.call(ctx, c, args)
}

// Needs returns the row that says what a call needs: that of the operation, or the one that its arguments know.
func (t *Tool) Needs(args any) *Row {
	if own, ok := args.(interface{ Needs() *Row }); ok {
		return own.Needs()
	}
	return t.Op
}

// Profile is a set of tools that go together.
type Profile struct {
	Name  string
	Tools []*Tool
}

// Profiles returns every tool of an operation, in the order of the lists that are made of them.
func Profiles() []Profile {
	return []Profile{
		{"default", []*Tool{
			memorySave, memoryRecall, memoryGet, memoryUpdate, memoryForget, memoryContext, memoryTimeline, sessionStart, sessionEnd, sessionSummary,
		}},
		{"snapshots", []*Tool{snapshotCreate, snapshotList, snapshotDiff, snapshotVerify, snapshotRestore, consolidationBegin, consolidationEnd}},
		{"control", []*Tool{
			taskSave, taskGet, taskList, taskEvent, taskReplay, approvalRequest, approvalList, resultSave, resultList,
			queuePublish, queueClaim, queueAck, queueNack, queueRenew, queueStatus,
		}},
		{"state", []*Tool{stateList, stateGet, stateSet, stateDelete, sessionStateGet, sessionStateSet}},
	}
}

// BadArgs is the error of arguments that a tool cannot work with.
func BadArgs(format string, args ...any) error {
	return amber.Errorf(amber.KindInvalid, "read arguments", "", format, args...)
}

// Said is an error whose words the contract of a tool prescribes: the agent gets exactly these.
type Said struct {
	Text string
	err  *amber.Error
}

// Say returns an error in prescribed words.
func Say(k amber.Kind, op, text string) error {
	return &Said{text, amber.Errorf(k, op, "", "%s", text)}
}

func (s *Said) Error() string { return s.Text }

// Unwrap returns the error with its kind.
func (s *Said) Unwrap() error { return s.err }
