package mcpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// batchBytes is how much the answers of a batch may have before the messages
// that are left are not taken any more.
const batchBytes = 1 << 20

// versionHeader names the version of the protocol that a request speaks, and
// firstWithoutBatches the first one that has no batches.
const (
	versionHeader       = "Mcp-Protocol-Version"
	firstWithoutBatches = "2025-06-18"
)

// answerBatch answers messages one after the other. Once their answers have too
// many bytes, or the time of one call is over, the rest is refused: a message
// that is refused has done nothing and may be sent again.
func (d *door) answerBatch(w http.ResponseWriter, r *http.Request, messages []json.RawMessage) {
	if v := r.Header.Get(versionHeader); v >= firstWithoutBatches {
		refuse(w, http.StatusBadRequest, amber.KindInvalid, refuseFor(nil, fmt.Sprintf("batches are not in version %s of the protocol: send one message", clip.Marked(v, 20))))
		return
	}
	deadline := d.shared.Clock().Add(d.shared.Timeout)
	var out bytes.Buffer
	for _, m := range messages {
		if r.Context().Err() != nil {
			return // the caller has gone away
		}
		answer := d.answerOne(r, m, d.spent(&out, deadline))
		if len(answer) == 0 {
			continue // a notification
		}
		if out.Len() == 0 {
			out.WriteByte('[')
		} else {
			out.WriteByte(',')
		}
		out.Write(answer)
	}
	if out.Len() == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	out.WriteByte(']')
	d.send(w, http.StatusOK, http.Header{"Content-Type": {"application/json"}}, out.Bytes())
}

// spent says why no more messages are taken, or nothing.
func (d *door) spent(out *bytes.Buffer, deadline time.Time) string {
	switch {
	case out.Len() > batchBytes:
		return fmt.Sprintf("the answers of the batch have more than %d bytes: send this message again", batchBytes)
	case d.shared.Clock().After(deadline):
		return fmt.Sprintf("the batch took more than %s: send this message again", d.shared.Timeout)
	}
	return ""
}

// answerOne answers one message of a batch, or refuses it.
func (d *door) answerOne(r *http.Request, message json.RawMessage, spent string) []byte {
	h, bad := headOf(message)
	switch {
	case bad != nil:
		return bad.answer()
	case h.method == "subscriptions/listen":
		return refuseFor(h.id, "a stream is not opened in a batch").answer()
	case spent != "" && h.id == nil:
		return nil
	case spent != "":
		return refused{id: h.id, code: int64(amber.KindBusy.MCPCode()), why: spent}.answer()
	}
	c := d.ask(r, h, message)
	if c.status != http.StatusOK && c.status != http.StatusAccepted && !c.isJSON() {
		return refuseFor(h.id, clip.Marked(string(bytes.TrimSpace(c.body)), maxErrorBytes)).answer()
	}
	return bytes.TrimSpace(c.body)
}
