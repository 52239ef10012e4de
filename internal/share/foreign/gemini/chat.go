package gemini

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// chat is the file of a conversation.
type chat struct {
	file   foreign.File
	folder string // the short id or digest of its project; "" where unknown
	parent string // of a subagent
}

// chats returns the files of conversations, newest first, since the newest of a session counts; those of subagents are
// behind the others.
func (r *reader) chats() []chat {
	var main, sub []chat
	_, single := r.tree.Single()
	for _, f := range r.tree.Files() {
		if !isChatFile(r.tree, f) || single && !isChat(f) {
			continue
		}
		dirs := strings.Split(path.Dir(whole(r.tree, f)), "/")
		c := chat{file: f}
		if at := slices.Index(dirs, "chats"); at > 0 {
			c.folder = dirs[at-1]
		}
		if n := len(dirs); n > 1 && dirs[n-2] == "chats" {
			c.parent = dirs[n-1]
			sub = append(sub, c)
			continue
		}
		main = append(main, c)
	}
	slices.Reverse(main)
	slices.Reverse(sub)
	return append(main, sub...)
}

// readChat reads a conversation in two passes: the first applies the log, the second gives out what has remained.
func (r *reader) readChat(ctx context.Context, c chat) error {
	l := newLog(c.file, r.to.Skip)
	if err := l.scan(ctx, l); err != nil {
		return err
	}
	l.settle()
	s := r.session(c, l)
	if before, twice := r.sessions[s.ID]; twice {
		r.to.Skip(c.file.Place(""), "session %s is in %s, too, which is newer", s.ID, before)
		return nil
	}
	if s.Turns == 0 {
		return nil
	}
	r.sessions[s.ID] = c.file.Name
	want, err := r.to.Session(s)
	if err != nil || !want {
		return err
	}
	return l.giveOut(ctx, s.Directory, r.to)
}

func (r *reader) session(c chat, l *log) foreign.Session {
	id := l.meta.Text("sessionId")
	if id == "" || id == c.parent {
		id = c.file.Stem()
	}
	dir := cmp.Or(r.folders[c.folder], r.folders[l.meta.Text("projectHash")])
	if listed := l.meta.Texts("directories"); dir == "" && len(listed) > 0 {
		dir = listed[0]
	}
	s := foreign.Session{
		Place: c.file.Place(""), ID: sessionID(id), Name: l.meta.Text("summary"), Summary: l.meta.Text("summary"),
		Directory: dir, Project: r.o.ProjectFor(dir), State: l.state(),
	}
	if c.parent != "" {
		s.Parent = sessionID(c.parent)
	}
	l.describe(&s)
	return s
}

// sessionID is the id of the host, so that a chat meets what hooks recorded.
func sessionID(id string) amber.SessionID { return foreign.HostSessionID("gemini", id) }
