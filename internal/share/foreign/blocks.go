package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// Block is a part of a message in the shape of the Anthropic API, in which several programs write conversations down.
type Block struct {
	Type string `json:"type"` // text, thinking, image, document, tool_use, tool_result
	Text string `json:"text"`
	// Members of a tool_use.
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	// Members of a tool_result.
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// Blocks returns the parts of a message, whose content is a text or a list. A part of another shape is left empty, and
// the error is about content that is not JSON.
func Blocks(content []byte) ([]Block, error) {
	content = bytes.TrimSpace(content)
	if len(content) == 0 {
		return nil, nil
	}
	switch content[0] {
	case '"':
		var text string
		if err := json.Unmarshal(content, &text); err != nil || text == "" {
			return nil, err
		}
		return []Block{{Type: "text", Text: text}}, nil
	case '[':
		var list []Block
		err := Lenient(json.Unmarshal(content, &list))
		return list, err
	}
	return nil, nil
}

// Lenient passes over an error that says that a field has another type: then the field is left empty, and every other
// one is read.
func Lenient(err error) error {
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// Plain returns what a block shows as text: a mark for a picture or a document, the text of a tool's result.
func (b Block) Plain() string {
	switch b.Type {
	case "text":
		if strings.TrimSpace(b.Text) == "" {
			return ""
		}
		return b.Text
	case "image", "document":
		return "[" + b.Type + "]"
	case "tool_result":
		var parts []string
		inside, _ := Blocks(b.Content) // it is part of JSON that was read
		for _, inner := range inside {
			if inner.Type != b.Type && inner.Plain() != "" {
				parts = append(parts, inner.Plain())
			}
		}
		return strings.Join(parts, "\n")
	}
	return ""
}
