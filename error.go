package amber

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind says what an error means to the caller. Kinds travel on the wire and
// in exit codes, so the list only grows.
type Kind string

// The kinds. Absent, unreachable, refused and damaged are four different
// answers everywhere.
const (
	KindInvalid     Kind = "invalid"      // the request is wrong
	KindNotFound    Kind = "not_found"    // absent; also the answer to a tenant that has no access
	KindConflict    Kind = "conflict"     // someone else changed it
	KindBusy        Kind = "busy"         // someone else holds it past the wait
	KindDamaged     Kind = "damaged"      // bytes do not match
	KindUntrusted   Kind = "untrusted"    // a signature is bad or was stripped
	KindRefused     Kind = "refused"      // policy or permission says no
	KindQuota       Kind = "quota"        // a bound is reached
	KindCrossTenant Kind = "cross_tenant" // belongs to another tenant or agent
	KindTooNew      Kind = "too_new"      // written by a newer Amber
	KindUnsupported Kind = "unsupported"  // this backend or build cannot do it
	KindUnreachable Kind = "unreachable"  // network, server error, timeout
	KindInternal    Kind = "internal"     // a bug or the disk
)

type codes struct{ exit, http, mcp int }

// kindCodes is the one table from kinds to process exit codes, HTTP statuses
// and the codes of JSON-RPC that MCP speaks.
var kindCodes = map[Kind]codes{
	KindInvalid:     {2, 400, -32602},
	KindNotFound:    {3, 404, -32002},
	KindConflict:    {4, 409, -32064},
	KindBusy:        {4, 409, -32064},
	KindDamaged:     {5, 422, -32065},
	KindUntrusted:   {5, 422, -32065},
	KindRefused:     {6, 403, -32066},
	KindQuota:       {6, 403, -32066},
	KindCrossTenant: {6, 403, -32066},
	KindTooNew:      {6, 403, -32066},
	KindUnsupported: {6, 403, -32066},
	KindUnreachable: {7, 503, -32067},
	KindInternal:    {1, 500, -32603},
}

// Known reports whether this build knows kind k.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// Kinds lists every kind, in the order of their constants.
func Kinds() []Kind {
	return []Kind{
		KindInvalid, KindNotFound, KindConflict, KindBusy, KindDamaged, KindUntrusted, KindRefused,
		KindQuota, KindCrossTenant, KindTooNew, KindUnsupported, KindUnreachable, KindInternal,
	}
}

func (k Kind) codes() codes {
	if c, ok := kindCodes[k]; ok {
		return c
	}
	return kindCodes[KindInternal]
}

// ExitCode returns the process exit code of k. A kind this build does not
// know is internal, here and below.
func (k Kind) ExitCode() int { return k.codes().exit }

// HTTPStatus returns the HTTP status of k.
func (k Kind) HTTPStatus() int { return k.codes().http }

// MCPCode returns the JSON-RPC error code of k.
func (k Kind) MCPCode() int { return k.codes().mcp }

// Error is the error every contract of this package returns: the operation,
// what kind of failure it is, the subject, the cause, and where it helps the
// command to run next.
type Error struct {
	Op   string // the step, "write memory"
	Kind Kind
	ID   string // the subject, if there is one
	Err  error  // the cause; nil when Op and Kind say it all
	Hint string // the next command, if there is one
}

// ErrUnknownOutcome is in the error about a change of which it is not known whether it was made, as when a database was lost while it committed. Any
// other error says that nothing was changed.
var ErrUnknownOutcome = errors.New("the outcome of the write is not known")

// Error renders the operation, the subject and the cause on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.ID != "" {
		b.WriteString(" ")
		b.WriteString(e.ID)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if e.Err != nil {
		b.WriteString(e.Err.Error())
	} else {
		b.WriteString(string(e.Kind))
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an *Error with no more than a kind that equals
// e's, so that errors.Is(err, &Error{Kind: KindConflict}) works.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Op == "" && t.ID == "" && t.Err == nil && t.Kind == e.Kind
}

// KindOf returns the kind of the outermost *Error in err's chain. A context
// that ended is unreachable; any other foreign error is internal; nil is "".
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return KindUnreachable
	}
	return KindInternal
}

// HintOf returns the first hint in err's chain, or "".
func HintOf(err error) string {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return ""
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}

// Errorf returns an *Error of kind k whose cause is made from the format and
// its arguments as by [fmt.Errorf], %w included.
func Errorf(k Kind, op, id, format string, args ...any) *Error {
	return &Error{Op: op, Kind: k, ID: id, Err: fmt.Errorf(format, args...)}
}

// WithHint sets what to do about the error, and returns it.
func (e *Error) WithHint(hint string) *Error {
	e.Hint = hint
	return e
}
