package client

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

var (
	_ op.Where = (*Client)(nil)
	_ op.Where = (*Agent)(nil)
)

// Do implements [op.Where] for operations of the home.
func (c *Client) Do(ctx context.Context, r *op.Row, in, out any) error {
	return c.do(ctx, r, in, out, map[string]string{})
}

// Do implements [op.Where] for operations of the agent and of its tenant.
func (a *Agent) Do(ctx context.Context, r *op.Row, in, out any) error {
	if r.Is(op.OfHome) { // the input says about which part, and none of it means all
		return a.c.Do(ctx, r, in, out)
	}
	return a.c.do(ctx, r, in, out, a.path())
}

// path has the variables of paths that name the agent.
func (a *Agent) path() map[string]string {
	return map[string]string{"tenant": string(a.tenant), "agent": string(a.agent)}
}

// do does an operation on the server. Path has the variables of the path that the input need not name.
func (c *Client) do(ctx context.Context, r *op.Row, in, out any, path map[string]string) error {
	q, err := newRequest(r, in, path)
	if err != nil {
		return err
	}
	switch file, _ := in.(interface{ Target() io.Writer }); {
	case r.Is(op.Streamed):
		return amber.Errorf(amber.KindUnsupported, r.ID, "", "the client reads no stream of events")
	case r.Is(op.Downloaded):
		return c.download(ctx, q, file.Target(), out)
	case r.Is(op.Uploaded):
		err = c.upload(ctx, q, out)
	default:
		err = c.call(ctx, q, out)
	}
	if err != nil {
		return err
	}
	return complete(r, path, reflect.ValueOf(out).Elem())
}

// newRequest makes the request for an operation from what the tags of its input say, and puts the variables of the path into path. Errors:
// invalid for a body that breaks its own rules, which JSON would mend, for what is no id of a snapshot, and for an input about another agent
// than the one of path.
func newRequest(r *op.Row, in any, path map[string]string) (*request, error) {
	q := &request{method: r.Method(), query: url.Values{}, header: http.Header{}, long: r.Is(op.Long), keyed: r.Is(op.Keyed)}
	in, err := r.Agreed(in, path)
	if err != nil {
		return nil, err
	}
	q.again = !r.ChangesBy(in) || r.MayRepeat(in)
	err = op.Fields(reflect.ValueOf(in), func(f op.Field, v reflect.Value) (err error) {
		switch {
		case f.In == "path":
			if id, ok := v.Interface().(amber.SnapshotID); ok {
				_, err = amber.ParseSnapshotID(string(id))
			}
			return cmp.Or(err, name(path, f.Name, v.String()))
		case f.In == "query":
			q.query[f.Name] = texts(v)
		case f.In == "header":
			q.header[f.Name] = texts(v)
		case f.Name == "raw":
			file, _ := v.Interface().(op.Upload)
			if q.file, q.size = file.Reader, file.Size; q.file == nil {
				err = amber.Errorf(amber.KindInvalid, "write request", "", "%s has no file to send", r.ID)
			}
		default:
			q.body, err = newBody(v, path)
		}
		return err
	})
	for element := range strings.SplitSeq(strings.TrimPrefix(r.Path(), "/"), "/") {
		if variable, ok := strings.CutPrefix(element, "{"); ok {
			element = path[strings.TrimSuffix(variable, "}")]
		}
		q.path = append(q.path, element)
	}
	return q, err
}

// name sets a variable of a path. The error is of kind invalid for a variable that has another value already.
func name(path map[string]string, variable, value string) error {
	if own := path[variable]; own != "" && value != "" && value != own {
		return amber.Errorf(amber.KindInvalid, "ask server", "", "the request is about another %s than %s", variable, own)
	}
	if value != "" {
		path[variable] = value
	}
	return nil
}

// texts are the values of a parameter: none for a zero value, which means the same as none. A pointer to a zero value has one.
func texts(v reflect.Value) (list []string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			list = append(list, fmt.Sprint(v.Elem()))
		}
	case reflect.Slice:
		for i := range v.Len() {
			list = append(list, fmt.Sprint(v.Index(i)))
		}
	default:
		if !v.IsZero() {
			list = append(list, fmt.Sprint(v))
		}
	}
	return list
}

// newBody writes a body, with the tenant and the agent of the path where the body names them, too. Errors: invalid for a body that names
// others, or breaks its own rules.
func newBody(v reflect.Value, path map[string]string) ([]byte, error) {
	body := reflect.New(v.Type()).Elem()
	body.Set(v)
	for variable, f := range fieldsOf(body) {
		switch f.Interface().(type) {
		case amber.TenantID, amber.AgentID:
			if path[variable] == "" { // of the home, or of another agent
				continue
			}
			if err := name(path, variable, f.String()); err != nil {
				return nil, err
			}
			f.SetString(path[variable])
		}
	}
	if m := body.MethodByName("Normalize"); m.IsValid() { // every body with rules has the method
		out := m.Call(nil)
		if err, _ := out[len(out)-1].Interface().(error); err != nil {
			return nil, err
		}
	}
	return encode(body.Interface())
}

// fieldsOf returns the fields of a struct by their names in JSON; nil for what is no struct.
func fieldsOf(v reflect.Value) map[string]reflect.Value {
	if v.Kind() != reflect.Struct {
		return nil
	}
	fields := map[string]reflect.Value{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && f.IsExported() {
			fields[name] = v.FieldByIndex(f.Index)
		}
	}
	return fields
}

// complete checks an answer by what its operation says of it: an answer without a list is not an empty list. Errors: damaged.
func complete(r *op.Row, path map[string]string, answer reflect.Value) error {
	if answer.Kind() != reflect.Struct {
		return nil
	}
	if f, ok := answer.Type().FieldByName("Items"); ok && f.Tag.Get("json") == "items" && answer.FieldByIndex(f.Index).IsZero() {
		return incomplete("items")
	}
	fields := fieldsOf(answer)
	for _, sure := range r.Sure {
		name, variable, repeats := strings.Cut(sure, "=")
		switch got := fields[name]; {
		case repeats && got.String() != path[variable]:
			return another(path[variable])
		case got.IsZero():
			return incomplete(name)
		}
	}
	return nil
}

// incomplete is the error of an answer that lacks something.
func incomplete(what string) error {
	return amber.Errorf(amber.KindDamaged, "read answer", "", "the answer has no %s", what)
}

// another is the error of an answer that is about another record than the one that was asked for.
func another(id string) error {
	return amber.Errorf(amber.KindDamaged, "read answer", id, "the answer is about another record")
}
