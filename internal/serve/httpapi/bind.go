package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/op"
)

const bindOp = "read request"

// bind fills in from a request and returns the bytes of the body. Errors:
// invalid.
func (a *API) bind(r *http.Request, o *op.Row, in reflect.Value) ([]byte, error) {
	query, err := parseQuery(r)
	if err != nil {
		return nil, err
	}
	var known []string
	var body []byte
	hasBody := false
	conditional := map[string]bool{}
	err = op.Fields(in, func(f op.Field, v reflect.Value) (err error) {
		switch f.In {
		case "path":
			return set(v, f.Name, []string{pathValue(r, f.Name)})
		case "query":
			known = append(known, f.Name)
			return set(v, f.Name, query[f.Name])
		case "header":
			conditional[f.Name] = true
			return set(v, f.Name, r.Header.Values(f.Name))
		}
		hasBody = true
		if f.Name == "raw" {
			return checkRaw(r)
		}
		if body, err = a.readBody(r); err == nil {
			err = decode(body, v.Addr().Interface())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(known, name) {
			return nil, op.Invalid("%s takes no parameter %q", o.ID, clip.Name(name))
		}
	}
	if !hasBody {
		if err := noBody(r); err != nil {
			return nil, err
		}
	}
	return body, conditions(r, o, conditional)
}

// conditions rejects conditions that the operation ignores: a caller that sent one counts
// on it.
func conditions(r *http.Request, o *op.Row, known map[string]bool) error {
	switch {
	case len(r.Header.Values(op.KeyHeader)) > 1:
		return op.Invalid("%s is given %d times, want once", op.KeyHeader, len(r.Header.Values(op.KeyHeader)))
	case !known["If-Match"] && r.Header.Get("If-Match") != "":
		return op.Invalid("%s takes no If-Match", o.ID)
	case o.Is(op.Changes) && !known["If-None-Match"] && r.Header.Get("If-None-Match") != "":
		return op.Invalid("%s takes no If-None-Match", o.ID)
	}
	return nil
}

// parseQuery reads the query; half an escape is an error, not something else.
func parseQuery(r *http.Request) (map[string][]string, error) {
	if len(r.URL.RawQuery) > maxQuery {
		return nil, op.Invalid("the query is longer than %d bytes", maxQuery)
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, op.Invalid("the query cannot be read: %v", err)
	}
	return q, nil
}

// set puts the values of one parameter into a field. Without values it leaves the field as it is: a pointer
// distinguishes that from the zero value.
func set(v reflect.Value, name string, values []string) error {
	if len(values) == 0 {
		return nil
	}
	for _, s := range values {
		if !utf8.ValidString(s) {
			return op.Invalid("%s is not valid UTF-8", name)
		}
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return set(v.Elem(), name, values)
	}
	if v.Kind() == reflect.Slice {
		out := reflect.MakeSlice(v.Type(), len(values), len(values))
		for i, s := range values {
			if err := set(out.Index(i), name, []string{s}); err != nil {
				return err
			}
		}
		v.Set(out)
		return nil
	}
	if len(values) > 1 {
		return op.Invalid("%s is given %d times, want once", name, len(values))
	}
	return setOne(v, name, values[0])
}

func setOne(v reflect.Value, name, s string) error {
	if t, ok := v.Addr().Interface().(*amber.Time); ok {
		parsed, err := amber.ParseTime(s)
		if err != nil {
			return op.Invalid("%s is %q, want a time as in 2026-01-31T12:00:00Z", name, clip.Name(s))
		}
		*t = parsed
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(s, 10, v.Type().Bits())
		if err != nil {
			return op.Invalid("%s is %q, want a whole number", name, clip.Name(s))
		}
		v.SetInt(n)
	case reflect.Bool:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return op.Invalid("%s is %q, want true or false", name, clip.Name(s))
		}
		v.SetBool(b)
	default:
		panic("httpapi: a parameter of type " + v.Type().String())
	}
	return nil
}

// readBody reads the body within its bound, unpacked.
func (a *API) readBody(r *http.Request) ([]byte, error) {
	if t := r.Header.Get("Content-Type"); t != "" {
		if kind, _, err := mime.ParseMediaType(t); err != nil || kind != "application/json" {
			return nil, op.Invalid("the body has type %q, want application/json", clip.Name(t))
		}
	}
	reader := io.Reader(r.Body)
	switch enc := r.Header.Get("Content-Encoding"); enc {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, readError(err)
		}
		reader = z
	default:
		return nil, op.Invalid("the body is encoded as %q, want gzip or no encoding", clip.Name(enc))
	}
	b, err := io.ReadAll(io.LimitReader(reader, a.o.MaxBody+1))
	if err != nil {
		return nil, readError(err)
	}
	if int64(len(b)) > a.o.MaxBody {
		return nil, tooLarge(a.o.MaxBody)
	}
	return b, nil
}

func tooLarge(most int64) error { return op.Invalid("the body is larger than %d bytes", most) }

// readError distinguishes a body that is too large, one that does not arrive, and one that cannot be read.
func readError(err error) error {
	var large *http.MaxBytesError
	var network net.Error
	switch {
	case errors.As(err, &large):
		return tooLarge(large.Limit)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return op.Invalid("the body is cut off")
	case errors.As(err, &network) && network.Timeout():
		return op.Invalid("the body took too long to arrive")
	case errors.As(err, &network), errors.Is(err, context.Canceled):
		return &amber.Error{Op: bindOp, Kind: amber.KindUnreachable, Err: err}
	}
	return op.Invalid("the body cannot be read: %v", err)
}

// decode reads exactly one JSON document; an unknown field is an error.
func decode(b []byte, into any) error {
	if !utf8.Valid(b) {
		return op.Invalid("the body is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	switch {
	case errors.Is(err, io.EOF):
		return op.Invalid("the body is empty, want a JSON document")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return op.Invalid("the JSON document is cut off")
	case amber.KindOf(err) == amber.KindInvalid:
		return err
	case err != nil:
		return op.Invalid("%s", strictjson.Words(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return op.Invalid("more data follows the JSON document")
	}
	if err := bodyRules.Check(b, strictjson.Of(reflect.TypeOf(into).Elem())); err != nil {
		return op.Invalid("%w", err)
	}
	return nil
}

// bodyRules find what the decoder does not report: a name that occurs twice. They do not look inside values that
// the server stores as they are.
var bodyRules = strictjson.Rules{Space: true, AnyCase: true, Unknown: true, Null: true, Opaque: true, Halves: true}

// noBody refuses a body where none is expected: the caller meant something
// by it. An empty object means nothing.
func noBody(r *http.Request) error {
	const most = 16
	b, err := io.ReadAll(io.LimitReader(r.Body, most))
	if err != nil {
		return readError(err)
	}
	if s := strings.TrimSpace(string(b)); len(b) == most || s != "" && s != "{}" {
		return op.Invalid("this operation takes no body")
	}
	return nil
}
