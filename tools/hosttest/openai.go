package main

import (
	"encoding/json"
	"net/http"
	"slices"
)

// openTool is a tool as the APIs of OpenAI describe it, flat or nested.
type openTool struct {
	Type       string
	Name       string
	Parameters object
	Function   struct {
		Name       string
		Parameters object
	}
}

func openTools(in []openTool) (tools []tool) {
	for _, t := range in {
		if t.Name == "" {
			t.Name, t.Parameters = t.Function.Name, t.Function.Parameters
		}
		if t.Name == "" {
			t.Name = t.Type // a tool of the API itself
		}
		tools = append(tools, tool{t.Name, t.Parameters})
	}
	return tools
}

// responses answers a request of the Responses API.
func (m *model) responses(w http.ResponseWriter, body []byte) {
	var in struct {
		Stream bool
		Input  json.RawMessage
		Tools  []openTool
	}
	if json.Unmarshal(body, &in) != nil {
		http.Error(w, "not a request", http.StatusBadRequest)
		return
	}
	var items []struct{ Type string }
	_ = json.Unmarshal(in.Input, &items) // one text has no results
	results := 0
	for _, i := range items {
		if slices.Contains([]string{"function_call_output", "custom_tool_call_output", "local_shell_call_output"}, i.Type) {
			results++
		}
	}
	next := m.next(body, openTools(in.Tools), results)
	item := object{
		"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": next.say, "annotations": []any{}}},
	}
	if next.tool != "" {
		input, _ := json.Marshal(next.input)
		item = object{"type": "function_call", "id": "fc_" + next.id, "call_id": next.id, "name": next.tool, "arguments": string(input), "status": "completed"}
	}
	done := object{
		"id": "resp_1", "object": "response", "created_at": 1, "model": modelName, "status": "completed", "output": []any{item},
		"usage": object{
			"input_tokens": 1, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 1,
			"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 2,
		},
	}
	if !in.Stream {
		writeJSON(w, done)
		return
	}
	created := object{"id": "resp_1", "object": "response", "created_at": 1, "model": modelName, "status": "in_progress", "output": []any{}}
	list := []event{
		{"response.created", object{"type": "response.created", "response": created}},
		{"response.output_item.added", object{"type": "response.output_item.added", "output_index": 0, "item": item}},
	}
	if next.tool == "" {
		list = append(list, event{"response.output_text.delta", object{
			"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": next.say,
		}})
	}
	list = append(list,
		event{"response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item}},
		event{"response.completed", object{"type": "response.completed", "response": done}},
	)
	events(w, list...)
}

// chat answers a request of the Chat Completions API.
func (m *model) chat(w http.ResponseWriter, body []byte) {
	var in struct {
		Stream   bool
		Messages []struct{ Role string }
		Tools    []openTool
	}
	if json.Unmarshal(body, &in) != nil {
		http.Error(w, "not a request", http.StatusBadRequest)
		return
	}
	results := 0
	for _, msg := range in.Messages {
		if msg.Role == "tool" {
			results++
		}
	}
	next := m.next(body, openTools(in.Tools), results)
	said, finish := object{"role": "assistant", "content": next.say}, "stop"
	if next.tool != "" {
		input, _ := json.Marshal(next.input)
		call := object{"index": 0, "id": next.id, "type": "function", "function": object{"name": next.tool, "arguments": string(input)}}
		said, finish = object{"role": "assistant", "content": nil, "tool_calls": []any{call}}, "tool_calls"
	}
	usage := object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	frame := func(kind string, choices ...any) object {
		return object{"id": "c1", "object": kind, "created": 1, "model": modelName, "choices": choices, "usage": usage}
	}
	if !in.Stream {
		writeJSON(w, frame("chat.completion", object{"index": 0, "message": said, "finish_reason": finish}))
		return
	}
	const kind = "chat.completion.chunk"
	events(w,
		event{"", frame(kind, object{"index": 0, "delta": said, "finish_reason": nil})},
		event{"", frame(kind, object{"index": 0, "delta": object{}, "finish_reason": finish})},
		event{"", "[DONE]"},
	)
}
