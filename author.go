package amber

import "cmp"

// Author says who wrote a record, as far as the door knows by which it came. The
// zero value is a record from before authors were noted, or one that a program
// wrote through a store of its own. A caller never names its author itself: the
// door does, see package internal/guard/authorship.
type Author struct {
	Host    string    `json:"host,omitempty" redact:"text"`    // the program that spoke: cli, page, tui, claude-code, the name of an MCP client
	Agent   string    `json:"agent,omitempty" redact:"text"`   // the name that the program gives the agent in it
	Session SessionID `json:"session,omitempty" redact:"text"` // in which it was said
	Token   string    `json:"token,omitempty" redact:"text"`   // the name of the token that let it in
}

// Check checks an author as one that is stored. The error is of kind invalid.
func (a Author) Check() error {
	return cmp.Or(
		CheckOptionalID("author host", a.Host), CheckOptionalID("author agent", a.Agent),
		CheckOptionalID("author session", string(a.Session)), CheckOptionalID("author token", a.Token),
	)
}
