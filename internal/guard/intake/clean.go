package intake

import (
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/tagged"
	"github.com/amber-memory/amber/internal/guard/redact"
)

// Clean returns a store whose writes lose their secrets by the given rules; nil
// rules leave it as it is. Everything else goes to s unchanged.
func Clean(s amber.Store, rules *redact.Redactor) amber.Store {
	if rules == nil {
		return s
	}
	return amber.Around(s, writes, inlet{rules}.call)
}

// writes reports whether what a method stores is cleaned: sync brings what was written elsewhere, and the entries of a
// journal of this machine were cleaned when they were written.
func writes(m amber.Method) bool {
	return m.Effect == amber.Changes && m.Layer != amber.LayerSync && m.Layer != amber.LayerJournal
}

// CleanAll is [Clean] for callers whose crash journal is not of this machine:
// what they have taken over of one is cleaned, too.
func CleanAll(s amber.Store, rules *redact.Redactor) amber.Store {
	if rules == nil {
		return s
	}
	return amber.Around(s, func(m amber.Method) bool { return m.Name == "ingest" || writes(m) }, inlet{rules}.call)
}

// Text cleans a text that goes to no store, and counts what it took.
func Text(ctx context.Context, rules *redact.Redactor, s string) string {
	if rules == nil {
		return s
	}
	c := inlet{rules}.cleaner()
	s = c.text(s)
	_ = c.done(ctx) // no id was looked at
	return s
}

// inlet makes cleaners by the same rules.
type inlet struct{ rules *redact.Redactor }

func (in inlet) cleaner() *cleaner { return &cleaner{rules: in.rules} }

// call cleans a request before the store has it, and adds to the answer what was taken out.
func (in inlet) call(ctx context.Context, call *amber.Call) error {
	if rs, ok := call.In[0].(*[]amber.WriteRequest); ok {
		return in.batch(ctx, call, rs)
	}
	c := in.cleaner()
	c.arguments(call)
	if err := c.done(ctx); err != nil {
		return err
	}
	err := call.Next(ctx)
	if ack, ok := call.Out.(*amber.WriteAck); ok {
		told(ack, c)
	}
	return err
}

// arguments cleans the arguments of a call: a request by the tags of its fields, and those of methods that take texts
// and ids by themselves.
func (c *cleaner) arguments(call *amber.Call) {
	switch call.Method.Name {
	case "claim":
		c.ids("consumer id", *call.In[0].(*string))
	case "set_concepts":
		words := call.In[1].(*[]string)
		*words = tagged.Change{Text: c.text}.List(*words)
	case "rename_session":
		c.ids("session id", string(*call.In[0].(*amber.SessionID)))
		name := call.In[1].(*string)
		*name = c.text(*name)
	case "save_state":
		c.ids("session id", string(*call.In[0].(*amber.SessionID)))
		doc := call.In[1].(*json.RawMessage)
		if len(*doc) > 0 {
			*doc = json.RawMessage(c.document(string(*doc)))
		}
	case "delete_note": // whose author the history keeps
		c.request(call.In[1])
	default:
		if call.In[0] != nil {
			c.request(call.In[0])
		}
	}
}

// batch cleans each request of a batch, so that each answer says what was taken out of its own.
func (in inlet) batch(ctx context.Context, call *amber.Call, rs *[]amber.WriteRequest) error {
	cleaners, clean := make([]*cleaner, len(*rs)), make([]amber.WriteRequest, len(*rs))
	for i, r := range *rs {
		cleaners[i], clean[i] = in.cleaner(), r
		cleaners[i].request(&clean[i])
		if cleaners[i].err != nil {
			return cleaners[i].err
		}
	}
	for _, c := range cleaners {
		_ = c.done(ctx) // it has no error
	}
	*rs = clean
	err := call.Next(ctx)
	if acks, ok := call.Out.(*[]amber.WriteAck); ok {
		for i := range *acks {
			told(&(*acks)[i], cleaners[i])
		}
	}
	return err
}

// told adds the secrets that were taken out to an answer, which a server may have added already.
func told(ack *amber.WriteAck, c *cleaner) {
	for rule, n := range c.report.Counts {
		if ack.Redacted == nil {
			ack.Redacted = map[string]int{}
		}
		ack.Redacted[rule] += n
	}
}
