package events

import "encoding/json"

// Encode returns an event as JSON. Where that has more than most bytes the payload is left out: who wants it asks Amber. The error is of an event
// that is no JSON.
func Encode(e Event, most int) ([]byte, error) {
	text, err := json.Marshal(e)
	if err == nil && len(text) > most {
		e.Payload = nil
		text, err = json.Marshal(e)
	}
	return text, err
}

// Decode reads an event; its payload stays as it is, a json.RawMessage.
func Decode(text []byte) (Event, error) {
	var e struct {
		Event
		Payload json.RawMessage `json:"payload"`
	}
	err := json.Unmarshal(text, &e)
	e.Event.Payload = e.Payload
	return e.Event, err
}
