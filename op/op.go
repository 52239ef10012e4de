package op

import (
	"context"
	"reflect"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Kind is what is true of every call of an operation.
type Kind uint16

// The kinds of operations; an operation may be of several.
const (
	// Changes: something is changed, so the audit log gets an entry.
	Changes Kind = 1 << iota
	// Shows: the answer to a change shows what is stored by its nature, so the scope read is needed, too.
	Shows
	// Long: a call may take as long as a snapshot does.
	Long
	// Repeats: doing it twice is the same as doing it once, so a request whose end is not known may be sent again. An input that knows
	// better has a method repeats.
	Repeats
	// Lasting: no other request takes back what it did, so that doing it again undoes nothing of others: it may be done again also where
	// its answer is not kept any more.
	Lasting
	// OwnKey: the store itself remembers the Idempotency-Key.
	OwnKey
	// Keyed: a client sends each call with an Idempotency-Key of its own, so that it may send the call again when the answer is lost and
	// undoes nothing that others did meanwhile.
	Keyed
	// Closed: the store of the agent is not opened; it may be missing or damaged.
	Closed
	// OfHome: it concerns a part of the home and no agent. The query names the part, or the input does.
	OfHome
	// Bound: a bound caller may ask for it and reaches its own part, see [wire.Bound].
	Bound
	// Tagged: the answer has an ETag.
	Tagged
	// Listed: the answer is a page, or one item on each line.
	Listed
	// Streamed: the answer comes as server-sent events, for as long as the caller listens. An agent that is not there is not made.
	Streamed
	// Uploaded: the body is a file of any size.
	Uploaded
	// Downloaded: the answer is a file, followed by a trailer that says what is in the file. An agent that is not there is not made.
	Downloaded
)

// Paths of the three sorts of operations.
const (
	TenantPath = "/v1/tenants/{tenant}"
	AgentPath  = TenantPath + "/agents/{agent}"
	KeyHeader  = "Idempotency-Key"
)

// Row is an operation as every door knows it.
type Row struct {
	ID    string // "memory.write": in the audit log, in metrics and in the OpenAPI document
	HTTP  string // method and path, as in "GET /memories/{id}"; a path that does not begin with /v1 is below [AgentPath]
	Scope wire.TokenScope
	Kind  Kind
	Doc   string

	Status int // of an answer; 0: 200, or 204 where there is none
	// Echo names fields of the answer that only repeat the request, so that a caller who may not read gets them, too.
	Echo []string
	// Holds is how many bytes of stored text a call reads at most; 0: little, or a page for a listing.
	Holds int64
	// Fails are kinds of error beside those that every operation of its sort may answer with.
	Fails []amber.Kind
	// Required are the parameters of the query without which a request is refused.
	Required []string
	// Sure are the fields of an answer that are never empty, so a client takes an answer that lacks one for damaged. "session_id=id" says
	// that the field session_id repeats the variable id of the path.
	Sure []string
	// Kept returns what is kept of an answer for a key; nil: the answer itself.
	Kept func(out any) any

	In, Out reflect.Type // Out is the item of a listing

	repeats []repeat // of the body

	call func(ctx context.Context, c *Call, in any) (any, error)
	each func(ctx context.Context, c *Call, in any, emit func(any) error) error
}

// Op is an operation with the types of its input and its answer.
type Op[In, Out any] struct{ *Row }

// None is the answer of operations that have nothing to say, and the input of those that ask for nothing.
type None struct{}

// Payload is the input of operations that take a body and nothing else.
type Payload[T any] struct {
	Body T `body:"json"`
}

// Where is a place where operations are done: an open agent, or a server.
type Where interface {
	// Do does an operation; out points to its answer. Errors: those of the operation, and those of the way there.
	Do(ctx context.Context, r *Row, in, out any) error
}

// Call does the operation somewhere.
func (o Op[In, Out]) Call(ctx context.Context, w Where, in In) (out Out, err error) {
	err = w.Do(ctx, o.Row, in, &out)
	return out, err
}

// Listing is an operation that answers a page of items.
type Listing[In, Item any] struct{ *Row }

// Call reads one page.
func (o Listing[In, Item]) Call(ctx context.Context, w Where, in In) (page amber.Page[Item], err error) {
	err = w.Do(ctx, o.Row, in, &page)
	return page, err
}

// do declares an operation.
func do[In, Out any](r Row, fn func(ctx context.Context, c *Call, in In) (Out, error)) Op[In, Out] {
	r.In, r.Out = reflect.TypeFor[In](), reflect.TypeFor[Out]()
	r.repeats = repeatsOf(r.In, r.ID)
	r.call = func(ctx context.Context, c *Call, in any) (any, error) {
		agreed, err := r.Agreed(in, nil)
		if err != nil {
			var none Out
			return none, err
		}
		return fn(ctx, c, agreed.(In))
	}
	return Op[In, Out]{&r}
}

// list declares a listing, whose items can also be asked for one after the other.
func list[In paged, Item any](r Row, fn func(ctx context.Context, c *Call, in In, p Paging) (amber.Page[Item], error)) Listing[In, Item] {
	l := listing[In](r, func(ctx context.Context, c *Call, in In) (amber.Page[Item], error) { return fn(ctx, c, in, in.page()) })
	l.each = func(ctx context.Context, c *Call, in any, emit func(any) error) error {
		return eachPage(ctx, in.(In).page(), func(p Paging) (amber.Page[Item], error) { return fn(ctx, c, in.(In), p) }, emit)
	}
	return l
}

// listing declares a listing that knows itself how its items are read one after the other.
func listing[In, Item any](r Row, fn func(ctx context.Context, c *Call, in In) (amber.Page[Item], error)) Listing[In, Item] {
	r.Kind |= Listed
	r.In, r.Out = reflect.TypeFor[In](), reflect.TypeFor[Item]()
	r.call = func(ctx context.Context, c *Call, in any) (any, error) {
		page, err := fn(ctx, c, in.(In))
		if page.Items == nil {
			page.Items = []Item{} // a list is never null in JSON
		}
		return page, err
	}
	return Listing[In, Item]{&r}
}

// Is reports whether the operation is of a kind, or of all of several.
func (r *Row) Is(k Kind) bool { return r.Kind&k == k }

// Method is that of HTTP.
func (r *Row) Method() string { m, _, _ := strings.Cut(r.HTTP, " "); return m }

// Path is the pattern of the path in HTTP.
func (r *Row) Path() string {
	_, path, _ := strings.Cut(r.HTTP, " ")
	if strings.HasPrefix(path, "/v1") {
		return path
	}
	return AgentPath + path
}

// Sort is the first part of the name, as in memory.
func (r *Row) Sort() string { s, _, _ := strings.Cut(r.ID, "."); return s }

// Silent reports whether the operation has no answer.
func (r *Row) Silent() bool { return r.Out == reflect.TypeFor[None]() }

// Answer does the operation in an agent that is open, and returns its answer.
func (r *Row) Answer(ctx context.Context, c *Call, in any) (any, error) { return r.call(ctx, c, in) }

// Each does a listing and emits one item after the other.
func (r *Row) Each(ctx context.Context, c *Call, in any, emit func(any) error) error {
	return r.each(ctx, c, in, emit)
}

// repeats is implemented by inputs of which some may be done twice.
type repeats interface{ repeats() bool }

// MayRepeat reports whether doing it twice with an input is the same as doing it once.
func (r *Row) MayRepeat(in any) bool {
	if own, ok := in.(repeats); ok {
		return own.repeats()
	}
	return r.Is(Repeats)
}

// looks is implemented by inputs of operations that change something, of which some only ask what would be changed. Those are not in the
// audit log: nothing was done.
type looks interface{ looks() bool }

// ChangesBy reports whether the operation changes something with an input.
func (r *Row) ChangesBy(in any) bool {
	l, ok := in.(looks)
	return r.Is(Changes) && !(ok && l.looks())
}

// Check finds what is wrong with an input before anything is opened or received. Errors: invalid.
func Check(in any) error {
	if own, ok := in.(interface{ check() error }); ok {
		return own.check()
	}
	return nil
}

// Aim is the part of the home that a call concerns, where the input knows more of it than the path and the query say.
type Aim struct {
	Tenant  amber.TenantID
	Agent   amber.AgentID
	Subject string
}

// AimOf returns the aim of an input; ok is false for one that has none of its own.
func AimOf(ctx context.Context, h *House, c Caller, in any) (aim Aim, ok bool) {
	own, ok := in.(interface {
		aim(ctx context.Context, h *House, c Caller) (Aim, bool)
	})
	if !ok {
		return Aim{}, false
	}
	return own.aim(ctx, h, c)
}

// Field is one field of an input and the place where it comes from.
type Field struct {
	reflect.StructField
	In, Name string // "path", "query", "header" or "body"
}

// Fields calls fn for every field of an input that comes from somewhere, those of embedded structs too, until fn returns an error.
func Fields(v reflect.Value, fn func(f Field, v reflect.Value) error) error {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct && f.Tag == "" {
			if err := Fields(v.Field(i), fn); err != nil {
				return err
			}
			continue
		}
		for _, in := range []string{"path", "query", "header", "body"} {
			if name := f.Tag.Get(in); name != "" {
				if err := fn(Field{f, in, name}, v.Field(i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
