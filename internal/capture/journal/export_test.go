package journal

import "bytes"

// Waiting returns how many appends of the session wait to be written.
func Waiting(j *Journal, key Key) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	if g := j.groups[key]; g != nil {
		return len(g.waiting)
	}
	return 0
}

// Settle returns when every append of this process that was under way is over.
func Settle(j *Journal) {
	var under []*pending
	j.mu.Lock()
	for _, g := range j.groups {
		under = append(append(under, g.writing...), g.waiting...)
	}
	j.mu.Unlock()
	for _, p := range under {
		<-p.done
	}
}

// Groups returns how many sessions have appends under way.
func Groups(j *Journal) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.groups)
}

// Placed is a frame and where it lies.
type Placed struct {
	Frame
	At, Size int64
}

// Scanned is what a scanner finds in the bytes of a segment.
type Scanned struct {
	Frames        []Placed
	Places        int64
	Skipped, Tail int64
	Lost          int64
}

// Scan reads the bytes of a segment.
func Scan(b []byte, key Key) (out Scanned, err error) {
	var base int64
	if h, err := parseHeader(b[:min(len(b), segmentHeader)]); err == nil && h.key == key {
		base = h.base
	}
	s := scan(bytes.NewReader(b), key.seed(), int64(len(b)), base)
	for {
		ok, err := s.next()
		if err != nil || !ok {
			return Scanned{out.Frames, s.damage, s.skipped, s.tail, s.lost}, err
		}
		size := frameSize(len(s.frame.Payload))
		f := s.frame
		f.Payload = bytes.Clone(f.Payload)
		out.Frames = append(out.Frames, Placed{Frame: f, At: s.at - size, Size: size})
	}
}

// EncodeFrame returns the bytes of a frame at an offset.
func EncodeFrame(key Key, at int64, f Frame) []byte { return appendFrame(nil, key.seed(), at, f) }

// ParseMeta reads a meta file and writes it again.
func ParseMeta(b []byte, key Key) (Session, []byte, error) {
	m, err := parseMeta(b, key)
	if err != nil {
		return Session{}, nil, err
	}
	again, err := m.marshal()
	return Session{Host: m.Host, ID: m.SessionID}, again, err
}
