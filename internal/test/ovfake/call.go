package ovfake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// call is one request and its answer.
type call struct {
	w  http.ResponseWriter
	r  *http.Request
	id identity
}

// refusal is an error with its place in the interface.
type refusal struct {
	status        int
	code, message string
	details       any  // of the error; nil: none
	bare          bool // without the fields that are null
}

func (e *refusal) Error() string { return e.code + ": " + e.message }

func invalid(format string, args ...any) error {
	return &refusal{status: http.StatusBadRequest, code: "INVALID_ARGUMENT", message: fmt.Sprintf(format, args...), details: object{}}
}

func invalidURI(uri, reason string) error {
	return &refusal{
		status: http.StatusBadRequest, code: "INVALID_URI", message: fmt.Sprintf("Invalid URI: %s (%s)", uri, reason),
		details: object{"uri": uri, "reason": reason},
	}
}

func missing(kind, what, name string) error {
	return &refusal{
		status: http.StatusNotFound, code: "NOT_FOUND", message: what + " not found: " + name,
		details: object{"type": kind, "resource": name},
	}
}

func denied(uri, format string, args ...any) error {
	e := &refusal{status: http.StatusForbidden, code: "PERMISSION_DENIED", message: fmt.Sprintf(format, args...), details: object{}}
	if uri != "" {
		e.details = object{"resource": uri}
	}
	return e
}

func conflict(details object, format string, args ...any) error {
	return &refusal{status: http.StatusConflict, code: "CONFLICT", message: fmt.Sprintf(format, args...), details: details}
}

func internal() error {
	return &refusal{status: http.StatusInternalServerError, code: "INTERNAL", message: "Internal server error"}
}

// flaw is a field of a request that the server does not take.
type flaw struct {
	Loc     []string `json:"loc"`
	Message string   `json:"message"`
	Type    string   `json:"type"`
}

func malformed(flaws ...flaw) error {
	return &refusal{
		status: http.StatusBadRequest, code: "INVALID_ARGUMENT", bare: true,
		message: "Invalid request parameters: " + strings.Join(flaws[0].Loc, ".") + ": " + flaws[0].Message,
		details: object{"validation_errors": flaws},
	}
}

// reply writes a JSON document.
func reply(w http.ResponseWriter, status int, doc any) {
	body, err := json.Marshal(doc)
	if err != nil {
		panic(err) // no document here has a value that is not JSON
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// ok answers with a result.
func (c *call) ok(result any) error {
	return c.reply(object{"status": "ok", "result": result, "error": nil, "telemetry": nil, "profile": nil})
}

// lean answers with a result, and leaves out the fields that are null.
func (c *call) lean(result any) error { return c.reply(object{"status": "ok", "result": result}) }

func (c *call) reply(doc any) error {
	reply(c.w, http.StatusOK, doc)
	return nil
}

// fail answers with an error.
func (c *call) fail(err error) {
	var e *refusal
	if !errors.As(err, &e) {
		e = &refusal{status: http.StatusInternalServerError, code: "INTERNAL", message: err.Error()}
	}
	doc := object{"status": "error", "error": object{"code": e.code, "message": e.message, "details": e.details}}
	if !e.bare {
		doc["result"], doc["telemetry"], doc["profile"] = nil, nil, nil
	}
	reply(c.w, e.status, doc)
}

// body reads the request into v, which points to a struct, and has the named
// fields be there. Unknown fields are ignored.
func (c *call) body(v any, required ...string) error {
	return c.decode(v, false, required)
}

// strict is body for requests that forbid unknown fields.
func (c *call) strict(v any, required ...string) error {
	return c.decode(v, true, required)
}

func (c *call) decode(v any, strict bool, required []string) error {
	raw, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxBody))
	if err != nil {
		return err
	}
	return fields(raw, v, strict, required, "body")
}

// fields reads an object into v. The path of v in the request is at.
func fields(raw []byte, v any, strict bool, required []string, at ...string) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return malformed(flaw{Loc: append(at, "1"), Message: "JSON decode error", Type: "json_invalid"})
	}
	var flaws []flaw
	loc := func(name string) []string { return append(slices.Clone(at), name) }
	for _, name := range required {
		if _, ok := all[name]; !ok {
			flaws = append(flaws, flaw{loc(name), "Field required", "missing"})
		}
	}
	known := names(v)
	for name := range all {
		if strict && !slices.Contains(known, name) {
			flaws = append(flaws, flaw{loc(name), "Extra inputs are not permitted", "extra_forbidden"})
		}
	}
	if len(flaws) > 0 {
		return malformed(flaws...)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return malformed(flaw{at, "Input is not valid", "value_error"})
	}
	return nil
}

// names returns the fields of a struct as they are in JSON.
func names(v any) (names []string) {
	t := reflect.TypeOf(v).Elem()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// query returns a parameter that has to be there.
func (c *call) query(name string) (string, error) {
	q := c.r.URL.Query()
	if !q.Has(name) {
		return "", malformed(flaw{[]string{"query", name}, "Field required", "missing"})
	}
	return q.Get(name), nil
}

// number returns a parameter that is a number of at least least.
func (c *call) number(name string, def, least int) (int, error) {
	text := c.r.URL.Query().Get(name)
	if text == "" {
		return def, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, malformed(flaw{[]string{"query", name}, "Input should be a valid integer", "int_parsing"})
	}
	if n < least {
		return 0, malformed(atLeast(least, "query", name))
	}
	return n, nil
}

func atLeast(least int, loc ...string) flaw {
	return flaw{loc, "Input should be greater than or equal to " + strconv.Itoa(least), "greater_than_equal"}
}

// flag returns a parameter that is true or false.
func (c *call) flag(name string) bool {
	v, _ := strconv.ParseBool(c.r.URL.Query().Get(name))
	return v
}

// some is a string or a list of strings.
type some []string

// UnmarshalJSON takes "" and null for an empty list.
func (s *some) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		if *s = nil; one != "" {
			*s = some{one}
		}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(s))
}
