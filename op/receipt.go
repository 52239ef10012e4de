package op

import (
	"bytes"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// receiptWhole are the fields of an answer that a receipt keeps: ids, versions and counts of what the request
// itself has done, and words of the program's own. The values of other fields may have been stored by others. A
// digest is not among them, nor a count of equal records: with these a text can be guessed.
var receiptWhole = map[string]bool{
	"id": true, "ids": true, "revision": true, "version": true, "seq": true, "dry_run": true,
	"entry_id": true, "consumer_id": true, "token": true, "fence": true, "expires_at": true,
	"applied": true, "deleted": true, "done": true, "forgotten": true, "erased": true, "removed": true, "remaining": true,
	"redacted": true, // rules and counts for what the request itself held
	"snapshot": true, "outcome": true, "warning": true,
	"from": true, "safety_snapshot": true, "generation": true, "restored": true, "parked_frames": true,
}

// receiptInside are the fields that a receipt looks into.
var receiptInside = map[string]bool{"items": true, "lease": true, "memory": true, "kept": true, "unfinished": true}

// MayRead reports whether the caller may read what is stored.
func (c Caller) MayRead() bool { return c.Grant.Has(wire.TokenRead) }

// Receipt is the answer to a change for a caller who may not read: v without
// whatever may have been stored before. A field that Receipt does not know is
// left out; echo names fields of v that only repeat the request. The error is of
// kind internal.
func Receipt(v any, echo ...string) (any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, &amber.Error{Op: "write answer", Kind: amber.KindInternal, Err: err}
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var whole any
	if err := d.Decode(&whole); err != nil {
		return nil, &amber.Error{Op: "write answer", Kind: amber.KindInternal, Err: err}
	}
	out, ok := receiptOf(whole).(map[string]any)
	if !ok {
		return map[string]any{}, nil
	}
	for _, name := range echo {
		if value, ok := whole.(map[string]any)[name]; ok {
			out[name] = value
		}
	}
	return out, nil
}

// receiptOf keeps the objects of a value, and what a receipt keeps of them; nil
// for anything else.
func receiptOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			switch {
			case receiptWhole[name]:
				out[name] = value
			case receiptInside[name]:
				if inner := receiptOf(value); inner != nil {
					out[name] = inner
				}
			}
		}
		return out
	case []any:
		out := []any{}
		for _, value := range v {
			if inner := receiptOf(value); inner != nil {
				out = append(out, inner)
			}
		}
		return out
	}
	return nil
}
