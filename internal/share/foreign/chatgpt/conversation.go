package chatgpt

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// conversation is one element of conversations.json. Its messages are a tree.
type conversation struct {
	ConversationID string           `json:"conversation_id"`
	ID             string           `json:"id"`
	Title          string           `json:"title"`
	CreateTime     seconds          `json:"create_time"`
	UpdateTime     seconds          `json:"update_time"`
	CurrentNode    string           `json:"current_node"`
	Mapping        map[string]*node `json:"mapping"`
	DoNotRemember  flag             `json:"is_do_not_remember"`

	began, ended amber.Time
}

func (c *conversation) id() string { return cmp.Or(c.ConversationID, c.ID) }

type node struct {
	Parent  string   `json:"parent"`
	Message *message `json:"message"`
}

type message struct {
	ID     string `json:"id"`
	Author struct {
		Role string `json:"role"`
		Name string `json:"name"`
	} `json:"author"`
	Recipient  string  `json:"recipient"`
	CreateTime seconds `json:"create_time"`
	Content    content `json:"content"`
	Metadata   struct {
		Hidden bool `json:"is_visually_hidden_from_conversation"`
	} `json:"metadata"`
}

type content struct {
	Type             string `json:"content_type"`
	Parts            []any  `json:"parts"`
	Text             string `json:"text"`
	Title            string `json:"title"`
	URL              string `json:"url"`
	ModelSetContext  string `json:"model_set_context"`
	UserProfile      string `json:"user_profile"`
	UserInstructions string `json:"user_instructions"`
}

// flag is set by anything but false and null: what is said in any form is to be kept.
type flag bool

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (f *flag) UnmarshalJSON(b []byte) error {
	*f = string(b) != "false" && string(b) != "null"
	return nil
}

// seconds is a time in seconds since 1970, which may be absent.
type seconds struct {
	at  amber.Time
	err error // why it is none, though something is there
}

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (s *seconds) UnmarshalJSON(b []byte) error {
	*s = seconds{}
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	n, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		s.err = fmt.Errorf("time is %.40s, want seconds since 1970", b)
		return nil
	}
	s.at, s.err = foreign.Seconds(n)
	return nil
}
