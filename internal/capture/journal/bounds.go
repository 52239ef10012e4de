package journal

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

// pressure says how much space all sessions together have left.
type pressure int

const (
	ample  pressure = iota
	scarce          // droppable entries are dropped
	full            // all others are refused
)

// reserve is the part of a bound, one in so many, that is kept for what must
// not be dropped, and for saying what was.
const reserve = 8

// pressure adds up all sessions. A writer calls it once per segment, so each
// session may pass the bound by one segment.
func (j *Journal) pressure() (pressure, error) {
	keys, err := j.Keys()
	if err != nil {
		return full, err
	}
	var total int64
	for _, k := range keys {
		files, err := j.segments(k)
		if err != nil {
			continue // a bad session keeps no other session from appending
		}
		for _, f := range files {
			total += f.size
		}
	}
	switch {
	case total >= j.o.MaxBytes:
		return full, nil
	case total >= j.o.MaxBytes-j.o.MaxBytes/reserve:
		return scarce, nil
	}
	return ample, nil
}

func (j *Journal) quotaError() error {
	return quota(fmt.Sprintf("the journal has reached %d bytes", j.o.MaxBytes))
}

func quota(why string) error {
	return amber.Errorf(amber.KindQuota, "append", "", "%s", why).WithHint("amber journal drain")
}

// admit turns the entries of a batch into frames from the sequence next on,
// dropping or refusing entries for which there is no space. A refused entry gets
// its error; all others get their sequence.
func (j *Journal) admit(batch []*pending, next, used int64, total pressure) []Frame {
	now := amber.At(j.o.Clock())
	frames := make([]Frame, 0, len(batch))
	for _, p := range batch {
		f, err := j.fit(p.entry, j.o.MaxSessionBytes-used, total)
		if err != nil {
			p.err = err
			continue
		}
		f.Seq, f.At = next+int64(len(frames)), now
		p.seq = f.Seq
		used += frameSize(len(f.Payload))
		frames = append(frames, f)
	}
	return frames
}

// fit returns the frame of an entry in a session with so much room left.
func (j *Journal) fit(e Entry, room int64, total pressure) (Frame, error) {
	f := Frame{Type: TypeEvent, Payload: e.Payload}
	left := room - frameSize(len(e.Payload))
	switch {
	case e.Droppable && (total > ample || left < j.o.MaxSessionBytes/reserve):
		f.Type, f.Payload = TypeGap, gapPayload(e)
	case total == full:
		return f, j.quotaError()
	}
	if frameSize(len(f.Payload)) > room {
		return f, quota(fmt.Sprintf("the session has reached %d bytes", j.o.MaxSessionBytes))
	}
	return f, nil
}

// Gap is what the payload of a gap frame says.
type Gap struct {
	DroppedBytes int    `json:"dropped_bytes"`
	About        string `json:"about"`
}

// maxAbout bounds what a gap says, in bytes.
const maxAbout = 200

func gapPayload(e Entry) []byte {
	about := strings.ToValidUTF8(e.About[:min(len(e.About), maxAbout)], "")
	b, err := json.Marshal(Gap{DroppedBytes: len(e.Payload), About: about})
	if err != nil {
		panic("journal: a gap always marshals: " + err.Error())
	}
	return b
}
