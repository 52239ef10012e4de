package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// kindsOf are the kinds of error that an operation may answer with.
func kindsOf(o *op.Row) []amber.Kind {
	home, changes := o.Is(op.OfHome), o.Is(op.Changes)
	may := map[amber.Kind]bool{
		amber.KindInvalid:     true, // an unknown parameter
		amber.KindRefused:     true, // a token without the scope
		amber.KindUnreachable: true, // a request that takes too long
		amber.KindInternal:    true,
		amber.KindNotFound:    true, // what the token does not reach
		amber.KindUnsupported: o.ID != op.AgentCapabilities.ID,
		amber.KindBusy:        !home || changes, // too many agents are in use, or the same key is
		amber.KindConflict:    changes,          // a key that was used for another request, beside the conditions of the request itself
		amber.KindDamaged:     !home || changes, // the files of the agent, or the answer that was kept for a key
		amber.KindTooNew:      !home,            // the files of the agent
	}
	for _, k := range o.Fails {
		may[k] = true
	}
	return slices.DeleteFunc(amber.Kinds(), func(k amber.Kind) bool { return !may[k] })
}

// failures are the answers of a request that failed, by status. Those with the same status and
// the same kinds are described once. Weighed requests are those for which the server may have no room.
func failures(kinds []amber.Kind, weighed bool, known object, w words) object {
	by := map[int][]amber.Kind{}
	if weighed {
		by[http.StatusServiceUnavailable] = append(by[http.StatusServiceUnavailable], amber.KindBusy)
	}
	for _, k := range kinds {
		by[k.HTTPStatus()] = append(by[k.HTTPStatus()], k)
		if k == amber.KindRefused {
			by[http.StatusUnauthorized] = append(by[http.StatusUnauthorized], k)
		}
	}
	out := object{"default": object{"$ref": "#/components/responses/Failure"}}
	for status, kinds := range by {
		var names []string
		var about []string
		for _, k := range kinds {
			names = append(names, camel(string(k)))
			about = append(about, "`"+string(k)+"`: "+w("ErrorKind="+string(k)))
		}
		name := strings.Join(names, "Or")
		if status == http.StatusUnauthorized {
			name, about = "Unauthorized", []string{"`" + string(amber.KindRefused) + "`: The request has no token that is valid, and the server needs one."}
		}
		if _, ok := known[name]; !ok {
			known[name] = object{
				"description": http.StatusText(status) + ". The kind of the error is one of these.\n\n- " + strings.Join(about, "\n- "), "x-amber-kinds": texts(kinds),
				"content": object{typeJSON: object{"schema": ref("Failure")}},
			}
		}
		out[strconv.Itoa(status)] = object{"$ref": "#/components/responses/" + name}
	}
	return out
}
