package amber

import (
	"context"
	"reflect"
)

// Effect says what a method does to a store.
type Effect int8

// The effects of methods.
const (
	Lists   Effect = iota // reads what there is, which may be nothing
	Finds                 // reads what belongs to one record, which may not be there
	Changes               // changes what is stored
)

// Method is one method of a contract. File methods.go states each of them once.
type Method struct {
	Layer  Layer  // the layer it belongs to, or [LayerJournal] or [LayerSync]
	Name   string // "append_turn", as metrics and traces name it
	Op     string // "append turn", as errors name it
	Effect Effect
}

// Call is one call of a method on its way to the store. A layer around the store may change what the pointers lead
// to, before and after it calls Next.
type Call struct {
	Method Method
	In     [3]any // pointers to the arguments behind the context, nil where there is none
	Out    any    // pointer to the answer; nil where the method returns an error alone
	Absent bool   // the store does not have this part, and refuses
	next   func(context.Context) error
}

// Next gives the call to what is below. It may be called again, or not at all.
func (c *Call) Next(ctx context.Context) error { return c.next(ctx) }

// Around returns s with a layer around it: each call of a method that wants accepts goes through do, and the
// others go to s as they are. A nil wants accepts every method. A part that s does not have stays absent, with the
// layer around it, too: the layer may refuse a call for a reason of its own before the part does.
func Around(s Store, wants func(Method) bool, do func(context.Context, *Call) error) Store {
	below := around{next: s.Parts, wants: wants, do: do}
	there, absent := below, below
	absent.empty = true
	s.put(&absent, func(part any) fate { return replaceIf(isAbsent(part)) })
	s.put(&there, func(part any) fate { return replaceIf(part != nil && !isAbsent(part)) })
	return s
}

// around is every contract but the log of changes, with a layer around it.
type around struct {
	next  Parts // below the layer; not used by a layer that calls no Next
	wants func(Method) bool
	do    func(context.Context, *Call) error
	empty bool // what is below is absent
}

func (a *around) isEmpty() bool { return a.empty }

func isAbsent(part any) bool {
	a, ok := part.(interface{ isEmpty() bool })
	return ok && a.isEmpty()
}

// fate is what happens to a part.
type fate int

const (
	kept fate = iota
	replaced
	dropped
)

func replaceIf(yes bool) fate {
	if yes {
		return replaced
	}
	return kept
}

// put decides about every part, and replaces those that are to be replaced by all.
func (p *Parts) put(all *around, decide func(part any) fate) {
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		part := v.Field(i)
		if part.Kind() != reflect.Interface {
			continue
		}
		switch decide(part.Interface()) {
		case replaced:
			with := any(all)
			if log, ok := part.Addr().Interface().(*ChangeLog); ok {
				with = changeLog{all, *log, Layer(v.Type().Field(i).Tag.Get("layer"))}
			}
			part.Set(reflect.ValueOf(with))
		case dropped:
			part.SetZero()
		}
	}
}

// skips reports whether the layer lets a method pass.
func (a *around) skips(m Method) bool { return a.wants != nil && !a.wants(m) }

// The functions below take a call of a method with so many arguments through a layer. The values of a call that the
// layer wants move to the heap together; a call that passes by moves nothing.

// frame holds the arguments and the answer of a call.
type frame[A, B, C, Out any] struct {
	Call
	a   A
	b   B
	c   C
	out Out
}

type none struct{}

func call0[T, Out any](ctx context.Context, a *around, m Method, part T, do func(T, context.Context) (Out, error)) (Out, error) {
	if a.skips(m) {
		return do(part, ctx)
	}
	f := &frame[none, none, none, Out]{}
	f.Call = Call{m, [3]any{}, &f.out, a.empty, func(ctx context.Context) (err error) {
		f.out, err = do(part, ctx)
		return err
	}}
	err := a.do(ctx, &f.Call)
	return f.out, err
}

func call1[T, A, Out any](ctx context.Context, a *around, m Method, part T, do func(T, context.Context, A) (Out, error), x A) (Out, error) {
	if a.skips(m) {
		return do(part, ctx, x)
	}
	f := &frame[A, none, none, Out]{a: x}
	f.Call = Call{m, [3]any{&f.a}, &f.out, a.empty, func(ctx context.Context) (err error) {
		f.out, err = do(part, ctx, f.a)
		return err
	}}
	err := a.do(ctx, &f.Call)
	return f.out, err
}

func call2[T, A, B, Out any](ctx context.Context, a *around, m Method, part T, do func(T, context.Context, A, B) (Out, error), x A, y B) (Out, error) {
	if a.skips(m) {
		return do(part, ctx, x, y)
	}
	f := &frame[A, B, none, Out]{a: x, b: y}
	f.Call = Call{m, [3]any{&f.a, &f.b}, &f.out, a.empty, func(ctx context.Context) (err error) {
		f.out, err = do(part, ctx, f.a, f.b)
		return err
	}}
	err := a.do(ctx, &f.Call)
	return f.out, err
}

func call3[T, A, B, C, Out any](ctx context.Context, a *around, m Method, part T, do func(T, context.Context, A, B, C) (Out, error), x A, y B, z C) (Out, error) {
	if a.skips(m) {
		return do(part, ctx, x, y, z)
	}
	f := &frame[A, B, C, Out]{a: x, b: y, c: z}
	f.Call = Call{m, [3]any{&f.a, &f.b, &f.c}, &f.out, a.empty, func(ctx context.Context) (err error) {
		f.out, err = do(part, ctx, f.a, f.b, f.c)
		return err
	}}
	err := a.do(ctx, &f.Call)
	return f.out, err
}

func do1[T, A any](ctx context.Context, a *around, m Method, part T, do func(T, context.Context, A) error, x A) error {
	if a.skips(m) {
		return do(part, ctx, x)
	}
	f := &frame[A, none, none, none]{a: x}
	f.Call = Call{m, [3]any{&f.a}, nil, a.empty, func(ctx context.Context) error { return do(part, ctx, f.a) }}
	return a.do(ctx, &f.Call)
}

func do2[T, A, B any](ctx context.Context, a *around, m Method, part T, do func(T, context.Context, A, B) error, x A, y B) error {
	if a.skips(m) {
		return do(part, ctx, x, y)
	}
	f := &frame[A, B, none, none]{a: x, b: y}
	f.Call = Call{m, [3]any{&f.a, &f.b}, nil, a.empty, func(ctx context.Context) error { return do(part, ctx, f.a, f.b) }}
	return a.do(ctx, &f.Call)
}
