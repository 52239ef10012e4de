package openviking

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/openviking/api"
)

// sendBytes bounds the messages of one call, as JSON.
const sendBytes = 4 << 20

// one makes the server equal for one session, which may have lost turns. A session that the server does not take, or that
// cannot be read, is set aside; errors are those that end the round.
func (m *mirror) one(ctx context.Context, id amber.SessionID, lost bool) error {
	err := m.bring(ctx, id, lost)
	kind := amber.KindOf(err)
	switch {
	case err == nil:
		if m.notes.release(id) {
			m.dirty = true
		}
		return nil
	case m.ofServer(err) && kind != amber.KindInvalid:
		return err
	case kind != amber.KindInvalid && kind != amber.KindDamaged:
		return err
	}
	m.failed = nil
	m.notes.setAside(id, reason(err))
	m.report.Aside++
	m.dirty = true
	return nil
}

// bring drops what the server has and should not have of a session, and sends what is missing once
// the session has ended. One that goes on is looked at only if it may have lost turns.
func (m *mirror) bring(ctx context.Context, id amber.SessionID, lost bool) error {
	session, err := m.s.o.Primary.Sessions.Session(ctx, id)
	gone := amber.KindOf(err) == amber.KindNotFound
	if err != nil && !gone {
		return err
	}
	ended := !gone && !session.EndedAt.IsZero()
	if !gone && !ended && !lost {
		return nil
	}
	x, err := m.s.shard(ctx, m.layout, shardOf(id))
	if err != nil {
		return err
	}
	at, noted := x.all[id]
	if !noted && !ended {
		return nil
	}
	var messages []api.Message
	if !gone && m.sends && session.Trust != amber.TrustImported {
		if messages, err = m.s.messages(ctx, id); err != nil {
			return err
		}
	}
	send := ended && len(messages) > 0
	if noted && (len(messages) == 0 || !at.fits(messages) || at.Unsure && !send) {
		if err := m.drop(ctx, x, id, send); err != nil {
			return err
		}
		at, noted = mirroredTo{}, send
	}
	if !send {
		return nil
	}
	t := &talk{mirror: m, x: x, id: id, name: m.sessionName(id), messages: messages, at: at, noted: noted}
	return t.send(ctx)
}

// drop deletes a conversation on the server, and then its entry, unless it will be sent again: an
// entry has it looked at again if that fails.
func (m *mirror) drop(ctx context.Context, x *shard, id amber.SessionID, again bool) error {
	err := m.patient(ctx, func() error { return m.s.dropConversation(ctx, m.sessionName(id)) })
	if m.server(err) != nil {
		return err
	}
	m.report.Dropped++
	if again {
		return m.s.keep(ctx, x, id, &mirroredTo{})
	}
	return m.s.keep(ctx, x, id, nil)
}

func (s *Store) dropConversation(ctx context.Context, name string) error {
	if err := s.o.Conversations.DropSession(ctx, name); err != nil {
		return err
	}
	return s.o.Conversations.DropSecrets(ctx, name)
}

// talk is a conversation on its way to the server.
type talk struct {
	*mirror
	x        *shard
	id       amber.SessionID
	name     string
	messages []api.Message
	at       mirroredTo
	noted    bool
	live     int // messages that the server has and that no commit archived
	again    bool
}

// call makes a call of the server.
func (t *talk) call(ctx context.Context, do func() error) error {
	return t.server(t.patient(ctx, do))
}

// send sends what the server does not have. Where a call was lost, or another process came in
// between, the server says how much it has: messages are added at the end, and the tag of the last
// one tells which they are.
func (t *talk) send(ctx context.Context) error {
	if t.noted && !t.at.Unsure && t.at.N == len(t.messages) {
		return t.commit(ctx)
	}
	if err := t.locate(ctx); err != nil {
		return err
	}
	t.at.Unsure = true
	if err := t.note(ctx); err != nil { // before the first message: from now on it may have some
		return err
	}
	before := t.at.N
	for t.at.N < len(t.messages) {
		even, err := t.add(ctx)
		if err != nil {
			return err
		}
		if !even {
			return t.restart(ctx, "the server has %d messages, which were not all sent", t.live)
		}
		if t.spent() && t.at.N < len(t.messages) {
			t.report.Sent++
			return t.noteAnd(ctx, errSpent)
		}
	}
	t.at.Unsure = false
	if t.at.N > before {
		t.report.Sent++
	}
	if err := t.note(ctx); err != nil {
		return err
	}
	return t.commit(ctx)
}

func (t *talk) noteAnd(ctx context.Context, err error) error {
	if nerr := t.note(ctx); nerr != nil {
		return nerr
	}
	return err
}

// note makes the entry durable.
func (t *talk) note(ctx context.Context) error {
	if t.noted && t.x.all[t.id] == t.at {
		return nil
	}
	t.noted = true
	return t.s.keep(ctx, t.x, t.id, &t.at)
}

// add sends the next messages. Even is false where the server has others beside them.
func (t *talk) add(ctx context.Context) (even bool, err error) {
	n, size := t.at.N, 0
	for n < len(t.messages) && n-t.at.N < api.MaxMessages {
		if size += weight(t.messages[n].Text); size > sendBytes && n > t.at.N {
			break
		}
		n++
	}
	some := t.messages[t.at.N:n]
	live := 0
	err = t.call(ctx, func() (err error) {
		live, err = t.s.o.Conversations.AddMessages(ctx, t.name, some)
		return err
	})
	if err != nil {
		return false, err
	}
	t.report.Messages += len(some)
	committed := t.at.C
	t.at, t.live = reached(t.messages, n), t.live+len(some)
	t.at.C = committed
	even = live == t.live
	t.live = live
	return even, nil
}

// restart drops a conversation that is ours and is not as it should be, and sends it again, once.
func (t *talk) restart(ctx context.Context, format string, args ...any) error {
	if t.again {
		return amber.Errorf(amber.KindInvalid, "send session", t.name, format, args...)
	}
	if err := t.clear(ctx); err != nil {
		return err
	}
	return t.send(ctx)
}

// locate finds out how much the server has, and makes the conversation where it is not there.
func (t *talk) locate(ctx context.Context) error {
	if t.at.N == 0 {
		created := false
		err := t.call(ctx, func() (err error) {
			created, err = t.s.o.Conversations.CreateSession(ctx, t.name)
			return err
		})
		if err != nil || created {
			t.at, t.live = mirroredTo{}, 0
			return err
		}
	}
	var there api.Session
	err := t.call(ctx, func() (err error) {
		there, err = t.s.o.Conversations.Session(ctx, t.name)
		return err
	})
	switch {
	case amber.KindOf(err) == amber.KindNotFound: // somebody deleted it
		t.failed = nil
		t.at, t.live = mirroredTo{}, 0
		return t.call(ctx, func() error { return only(t.s.o.Conversations.CreateSession(ctx, t.name)) })
	case err != nil:
		return err
	}
	t.live = there.Live
	return t.compare(ctx, there)
}

func only(_ bool, err error) error { return err }

// compare takes how much the server has from what it says.
func (t *talk) compare(ctx context.Context, there api.Session) error {
	whole := there.Live == there.Total || there.Commits > 0
	switch {
	case there.Live == 0 && there.Commits == 0:
		t.at = mirroredTo{}
		return nil
	case t.at.N > 0 && there.Total == t.at.N && whole:
		return nil
	}
	tag, err := t.last(ctx, there)
	if err != nil {
		return err
	}
	has, ours := parseTag(tag)
	if !ours {
		if t.noted && t.at.N == 0 { // nothing was sent: it is not ours to drop later
			if err := t.s.keep(ctx, t.x, t.id, nil); err != nil {
				return err
			}
		}
		return amber.Errorf(amber.KindInvalid, "send session", t.name, "the server has %d messages in it, and the last one is not Amber's: it is left as it is", there.Total)
	}
	// Uneven: a call that was given up came after it was made again, or messages were lost.
	uneven := there.Total > has.N || there.Commits == 0 && there.Live != has.N
	if uneven || !has.fits(t.messages) {
		return t.refresh(ctx)
	}
	has.C = min(t.at.C, has.N)
	t.at = has
	return nil
}

// refresh drops what is ours and not as it should be, and begins anew.
func (t *talk) refresh(ctx context.Context) error {
	if t.again {
		return amber.Errorf(amber.KindInvalid, "send session", t.name, "the server has other messages in it, also after it was dropped")
	}
	if err := t.clear(ctx); err != nil {
		return err
	}
	return t.locate(ctx)
}

// clear drops the conversation, to send it again.
func (t *talk) clear(ctx context.Context) error {
	t.again = true
	if err := t.drop(ctx, t.x, t.id, true); err != nil {
		return err
	}
	t.at, t.noted, t.live = mirroredTo{}, true, 0
	return nil
}

// last returns the tag of the last message: of one that is shown, or else of the last archive.
func (t *talk) last(ctx context.Context, there api.Session) (tag string, err error) {
	err = t.call(ctx, func() (err error) {
		tag, err = t.s.o.Conversations.SessionContext(ctx, t.name)
		return err
	})
	if err != nil || tag != "" || there.Live > 0 {
		return tag, err
	}
	uri := fmt.Sprintf("%s/%s/history/archive_%03d/messages.jsonl", t.sessionsRoot(), t.name, there.Commits)
	var file []byte
	err = t.call(ctx, func() (err error) {
		file, err = t.s.o.Server.Download(ctx, uri)
		return err
	})
	if kind := amber.KindOf(err); kind == amber.KindNotFound || kind == amber.KindDamaged { // too large, or nowhere
		t.failed = nil
		return "", nil
	}
	lines := bytes.Split(bytes.TrimSpace(file), []byte("\n"))
	var message struct {
		Tag string `json:"turn_id"`
	}
	if json.Unmarshal(lines[len(lines)-1], &message) != nil {
		return "", err
	}
	return message.Tag, err
}

// commit asks the server to learn from what it has, if that is wanted and was not done. A commit
// whose answer was lost does nothing the second time.
func (t *talk) commit(ctx context.Context) error {
	if t.s.o.Sessions != SessionsCommit || t.at.C >= t.at.N {
		return nil
	}
	if !t.notes.Learnt { // an erasure says so for ever
		t.notes.Learnt = true
		if err := t.save(ctx, t.cursor.Position); err != nil {
			return err
		}
	}
	err := t.call(ctx, func() error { return only(t.s.o.Conversations.Commit(ctx, t.name)) })
	if amber.KindOf(err) == amber.KindNotFound {
		t.failed = nil
		return t.restart(ctx, "the conversation is not there after it was sent")
	}
	if err != nil {
		return err
	}
	t.at.C = t.at.N
	t.report.Committed++
	return t.note(ctx)
}
