package main

import (
	"encoding/json"
	"net/http"
)

// gemini answers a request of the Gemini API. Requests for JSON are the host's
// own questions: which model to use, who speaks next.
func (m *model) gemini(w http.ResponseWriter, body []byte, stream bool) {
	var in struct {
		Contents []struct {
			Parts []struct{ FunctionResponse *object }
		}
		Tools []struct {
			FunctionDeclarations []struct {
				Name       string
				Parameters object
				Schema     object `json:"parametersJsonSchema"`
			}
		}
		Config struct{ ResponseMimeType string } `json:"generationConfig"`
	}
	if json.Unmarshal(body, &in) != nil {
		http.Error(w, "not a request", http.StatusBadRequest)
		return
	}
	var tools []tool
	for _, list := range in.Tools {
		for _, t := range list.FunctionDeclarations {
			if t.Schema == nil {
				t.Schema = t.Parameters
			}
			tools = append(tools, tool{t.Name, t.Schema})
		}
	}
	results := 0
	for _, c := range in.Contents {
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				results++
			}
		}
	}
	next := m.next(body, tools, results)
	part := object{"text": next.say}
	if next.tool != "" {
		part = object{"functionCall": object{"name": next.tool, "args": next.input}}
	}
	if in.Config.ResponseMimeType == "application/json" {
		b, _ := json.Marshal(object{
			"reasoning": "x", "next_speaker": "user", "model_choice": "pro", "complexity_score": 1, "complexity_reasoning": "x",
		})
		part = object{"text": string(b)}
	}
	out := object{
		"candidates":    []object{{"content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": modelName,
	}
	if stream {
		events(w, event{"", out})
		return
	}
	writeJSON(w, out)
}
