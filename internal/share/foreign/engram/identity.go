package engram

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

const (
	tool     = "engram" // of links, and the device of what Engram wrote
	syncName = "amber engram sync 1"
	rowName  = "amber engram row 1"
)

// A fingerprint names a row by what 1.7.0 keeps when it imports it and exports it again. Local numbers, counters and the
// other times are not in it.
func fingerprint(kind, session, typ, title, content, created, project, scope string) string {
	return fmt.Sprintf("%x", foreign.Digest(rowName, kind, session, typ, title, content, created, project, scope))
}

// Fingerprint names the session as it is: one that has ended since is another row.
func (s Session) Fingerprint() string {
	return fingerprint("session", s.ID, s.Directory, deref(s.EndedAt), deref(s.Summary), s.StartedAt, s.Project, "")
}

// Fingerprint names the memory. It knows two scopes, as 1.7.0 does.
func (o Observation) Fingerprint() string {
	scope := "project"
	if o.Scope == "personal" {
		scope = o.Scope
	}
	return fingerprint("observation", o.SessionID, o.Type, o.Title, o.Content, o.CreatedAt, deref(o.Project), scope)
}

// Fingerprint names the prompt.
func (p Prompt) Fingerprint() string {
	return fingerprint("prompt", p.SessionID, "", "", p.Content, p.CreatedAt, p.Project, "")
}

// stamp orders what Engram wrote. Its times are whole seconds, so two versions may have the same; the low bits, which count
// the events of a millisecond, come from the fingerprint and make the order the same everywhere.
func stamp(t amber.Time, print string) amber.Stamp {
	low, err := hex.DecodeString(print[:4])
	if err != nil {
		panic("engram: a fingerprint is hexadecimal: " + err.Error())
	}
	return amber.StampAt(time.UnixMilli(t.UnixMilli())) | amber.Stamp(binary.BigEndian.Uint16(low))
}

// memoryOfSync returns the id of a memory that is known by its sync_id. A UUID is one that Amber wrote there.
func memoryOfSync(sync string) amber.MemoryID {
	if id, err := amber.ParseMemoryID(sync); err == nil {
		return id
	}
	return amber.MemoryID(foreign.UUID(foreign.Digest(syncName, "observation", sync)))
}

// turnID returns the id of the turn a prompt becomes.
func turnID(p Prompt) amber.TurnID {
	if sync := strings.TrimSpace(deref(p.SyncID)); sync != "" {
		return turnOfSync(sync)
	}
	return amber.TurnID(tool + "-" + p.Fingerprint()[:32])
}

func turnOfSync(sync string) amber.TurnID {
	if id, err := amber.ParseMemoryID(sync); err == nil {
		return amber.TurnID(id)
	}
	sum := foreign.Digest(syncName, "prompt", sync)
	return amber.TurnID(tool + "-" + hex.EncodeToString(sum[:16]))
}

// maxEpochs is how many ids of one topic are tried; see [amber.TopicID].
const maxEpochs = 32

// memoryID returns the id of the memory m, which has everything but that: of its topic, of its sync_id, or of the row.
func memoryID(m amber.Memory, sync, print string) amber.MemoryID {
	sync = strings.TrimSpace(sync)
	if m.Topic == "" && sync != "" {
		return memoryOfSync(sync)
	}
	if m.Topic == "" {
		sum, err := hex.DecodeString(print)
		if err != nil {
			panic("engram: a fingerprint is hexadecimal: " + err.Error())
		}
		return amber.MemoryID(foreign.UUID([sha256.Size]byte(sum)))
	}
	topicID := func(epoch int) amber.MemoryID {
		return amber.TopicID(m.ProjectID, m.Scope, m.Identity(), m.Topic, epoch)
	}
	// A topic that was erased goes on under another id, which Amber writes as the sync_id.
	if _, err := amber.ParseMemoryID(sync); err == nil {
		for epoch := range maxEpochs {
			if id := topicID(epoch); string(id) == sync {
				return id
			}
		}
	}
	return topicID(0)
}
