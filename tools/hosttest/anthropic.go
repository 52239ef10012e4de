package main

import (
	"encoding/json"
	"net/http"
)

// anthropic answers a request of the Messages API.
func (m *model) anthropic(w http.ResponseWriter, body []byte) {
	var in struct {
		Stream   bool
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct {
			Name   string
			Schema object `json:"input_schema"`
		}
	}
	if json.Unmarshal(body, &in) != nil {
		http.Error(w, "not a request", http.StatusBadRequest)
		return
	}
	var tools []tool
	for _, t := range in.Tools {
		tools = append(tools, tool{t.Name, t.Schema})
	}
	results := 0
	for _, msg := range in.Messages {
		var parts []struct{ Type string }
		if json.Unmarshal(msg.Content, &parts) == nil {
			for _, p := range parts {
				if p.Type == "tool_result" {
					results++
				}
			}
		}
	}
	next := m.next(body, tools, results)
	block, delta, stop := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": next.say}, "end_turn"
	whole := object{"type": "text", "text": next.say}
	if next.tool != "" {
		input, _ := json.Marshal(next.input)
		block = object{"type": "tool_use", "id": "toolu_" + next.id, "name": next.tool, "input": object{}}
		delta, stop = object{"type": "input_json_delta", "partial_json": string(input)}, "tool_use"
		whole = object{"type": "tool_use", "id": "toolu_" + next.id, "name": next.tool, "input": next.input}
	}
	usage := object{"input_tokens": 1, "output_tokens": 1}
	message := object{
		"id": "msg_" + modelName, "type": "message", "role": "assistant", "model": modelName, "content": []any{whole},
		"stop_reason": stop, "stop_sequence": nil, "usage": usage,
	}
	if !in.Stream {
		writeJSON(w, message)
		return
	}
	message["content"], message["stop_reason"] = []any{}, nil
	events(w,
		event{"message_start", object{"type": "message_start", "message": message}},
		event{"content_block_start", object{"type": "content_block_start", "index": 0, "content_block": block}},
		event{"content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta}},
		event{"content_block_stop", object{"type": "content_block_stop", "index": 0}},
		event{"message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage}},
		event{"message_stop", object{"type": "message_stop"}},
	)
}
