package ovfake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A conversation is a folder: messages.jsonl holds the live messages, .meta.json counts, and
// history has a folder for each commit. Secrets that are found in messages are kept elsewhere, below
// privacy, and outlive the conversation.
const (
	liveFile    = "/messages.jsonl"
	metaFile    = "/.meta.json"
	historyDir  = "/history"
	maxMessages = 100
	tokenChars  = 4 // of a text, for one token
)

// message is one of a conversation, as it is kept and shown.
type message struct {
	ID      string   `json:"id"`
	Role    string   `json:"role"`
	Parts   []object `json:"parts"`
	Created string   `json:"created_at"`
	Turn    string   `json:"turn_id,omitempty"`
}

func (m message) text() string {
	text, _ := m.Parts[0]["text"].(string)
	return text
}

// tokens estimates, rounding up.
func (m message) tokens() int { return (len([]rune(m.text())) + tokenChars - 1) / tokenChars }

// counts are those of a conversation.
type counts struct {
	Total   int    `json:"total_message_count"`
	Commits int    `json:"commit_count"`
	Created string `json:"created_at"`
	Updated string `json:"updated_at"`
	Said    string `json:"last_message_at"`
	Commit  string `json:"last_commit_at"`
}

// session is a conversation of the sender of a request.
type session struct {
	s    *Server
	a    *account
	id   string
	path string
}

func (s *Server) session(c *call, id string) (session, error) {
	a, err := s.tenant(c)
	return session{s, a, id, "user/" + c.id.user + "/sessions/" + id}, err
}

// named is the conversation of the path of a request.
func (s *Server) named(c *call) (session, error) { return s.session(c, c.r.PathValue("session")) }

// conversation is named for one that is there.
func (s *Server) conversation(c *call) (session, error) {
	x, err := s.named(c)
	if err == nil && !x.exists() {
		err = missing("session", "Session", x.id)
	}
	return x, err
}

func (x session) exists() bool { return x.a.tree[x.path] != nil }

func (x session) now() string { return x.s.opts.Clock().UTC().Format("2006-01-02T15:04:05.000Z") }

// put keeps a file of the conversation.
func (x session) put(name string, raw []byte) {
	x.a.put(x.path+name, &node{raw: raw, level: fileLevel, modified: x.s.opts.Clock()})
	x.s.disk().write(x.a.name, x.path+name, raw)
}

func (x session) make() {
	x.put(liveFile, nil)
	x.save(counts{Created: x.now()})
}

func (x session) save(n counts) {
	n.Updated = x.now()
	raw, err := json.Marshal(n)
	check(err)
	x.put(metaFile, raw)
}

func (x session) counts() (n counts) {
	if meta := x.a.tree[x.path+metaFile]; meta != nil {
		check(json.Unmarshal(meta.raw, &n))
	}
	return n
}

func (x session) live() (all []message) {
	if file := x.a.tree[x.path+liveFile]; file != nil {
		for line := range bytes.Lines(file.raw) {
			var m message
			check(json.Unmarshal(line, &m))
			all = append(all, m)
		}
	}
	return all
}

func lines(all []message) (raw []byte) {
	for _, m := range all {
		line, err := json.Marshal(m)
		check(err)
		raw = append(append(raw, line...), '\n')
	}
	return raw
}

func tokens(all []message) (n int) {
	for _, m := range all {
		n += m.tokens()
	}
	return n
}

func (s *Server) createSession(c *call) error {
	var in struct {
		ID string `json:"session_id"`
	}
	if err := c.body(&in); err != nil {
		return err
	}
	if in.ID == "" {
		in.ID = s.opts.Clock().UTC().Format("20060102-150405-") + fmt.Sprintf("%x", random(8))
	}
	x, err := s.session(c, in.ID)
	if err != nil {
		return err
	}
	uri := scheme + x.path
	for _, part := range strings.Split(in.ID, "/") {
		if part == "." || part == ".." {
			return denied(uri, "Unsafe URI traversal segment '%s' in %s", part, uri)
		}
	}
	if x.exists() {
		what := "Session '" + in.ID + "' already exists"
		return &refusal{
			status: http.StatusConflict, code: "ALREADY_EXISTS", message: "Resource already exists: " + what,
			details: object{"resource": what, "type": "resource"},
		}
	}
	x.make()
	return c.ok(object{
		"session_id": in.ID, "uri": uri, "user": object{"account_id": c.id.account, "user_id": c.id.user},
		"auto_commit_policy": nil, "memory_extraction_config": object{"events": object{"tags": []string{}}},
	})
}

func (s *Server) showSession(c *call) error {
	x, err := s.named(c)
	if err != nil {
		return err
	}
	if !x.exists() {
		return &refusal{status: http.StatusNotFound, code: "NOT_FOUND", message: "Session " + x.id + " not found", bare: true, plain: true}
	}
	n, live := x.counts(), x.live()
	return c.ok(object{
		"session_id": x.id, "created_at": n.Created, "updated_at": n.Updated, "created_by_account_id": c.id.account, "created_by_user_id": c.id.user,
		"message_count": len(live), "commit_count": n.Commits, "total_message_count": n.Total, "memories_extracted": object{"total": 0},
		"last_commit_at": n.Commit, "last_message_at": n.Said, "last_auto_commit_at": "", "last_idle_commit_accepted_at": "",
		"llm_token_usage":       object{"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0, "cached_tokens": 0, "reasoning_tokens": 0},
		"embedding_token_usage": object{"total_tokens": 0}, "pending_tokens": tokens(live),
		"keep_recent_count": 0, "retention_mode": "", "keep_recent_turn_count": 0, "retained_message_token_budget": 0, "min_raw_tail_steps": 1,
		"memory_policy": nil, "auto_commit_policy": nil, "uri": scheme + x.path, "user": object{"account_id": c.id.account, "user_id": c.id.user},
		"memory_extraction_config": object{"events": object{"tags": []string{}}},
	})
}

// spoken is a message of a request.
type spoken struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
	Created string  `json:"created_at"`
	Turn    string  `json:"turn_id"`
}

func (s *Server) addMessages(c *call) error {
	var in struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := c.body(&in, "messages"); err != nil {
		return err
	}
	x, err := s.named(c)
	if err != nil {
		return err
	}
	if len(in.Messages) > maxMessages {
		return malformed(flaw{
			[]string{"body", "messages"},
			fmt.Sprintf("List should have at most %d items after validation, not %d", maxMessages, len(in.Messages)), "too_long",
		})
	}
	var added []message
	for i, raw := range in.Messages {
		m, err := x.message(i, raw)
		if err != nil {
			return err
		}
		added = append(added, m)
	}
	if s.mood.full {
		return internal()
	}
	if !x.exists() {
		x.make()
	}
	n, live := x.counts(), append(x.live(), added...)
	if len(added) > 0 {
		n.Total, n.Said = n.Total+len(added), x.now()
		x.put(liveFile, lines(live))
		x.save(n)
	}
	return c.ok(object{"session_id": x.id, "message_count": len(live), "added": len(added), "pending_tokens": tokens(live)})
}

// message reads a message of a request.
func (x session) message(i int, raw []byte) (message, error) {
	at := []string{"body", "messages", strconv.Itoa(i)}
	var in spoken
	if err := fields(raw, &in, false, []string{"role"}, at...); err != nil {
		return message{}, err
	}
	if in.Content == nil {
		return message{}, malformed(flaw{at, "Value error, Either 'content' or 'parts' must be provided", "value_error"})
	}
	if in.Created == "" {
		in.Created = x.s.opts.Clock().UTC().Format(time.RFC3339Nano)
	}
	return message{
		ID: fmt.Sprintf("msg_%x", random(16)), Role: in.Role, Created: in.Created, Turn: in.Turn,
		Parts: []object{{"type": "text", "text": x.protect(*in.Content)}},
	}, nil
}

// secret is what a real server takes for one; it knows many more.
var secret = regexp.MustCompile(`\b(?:password|api_key)=(\S+)`)

// vault is where the secrets of a conversation are kept.
func (x session) vault() string {
	return strings.Replace(x.path, "/sessions/", "/privacy/session/", 1)
}

// protect takes secrets out of a text, and keeps them.
func (x session) protect(text string) string {
	found := secret.FindAllStringSubmatch(text, -1)
	for _, m := range found {
		text = strings.ReplaceAll(text, m[1], fmt.Sprintf("{{ov_privacy:session:%s:%x}}", x.id, random(4)))
	}
	if len(found) > 0 {
		raw, err := json.Marshal(found)
		check(err)
		x.a.put(x.vault()+"/current.json", &node{raw: raw, level: fileLevel, modified: x.s.opts.Clock()})
		x.s.disk().write(x.a.name, x.vault()+"/current.json", raw)
	}
	return text
}

// dropSecrets forgets what was taken out of messages.
func (s *Server) dropSecrets(c *call) error {
	x, err := s.named(c)
	if err != nil {
		return err
	}
	found := x.a.tree[x.vault()] != nil
	s.erase(x.a, x.vault())
	return c.ok(object{"category": "session", "target_key": x.id, "deleted": found})
}

// sessionContext shows the messages that a budget of tokens has room for: the last of all, and of
// a user. What a commit has archived is not shown: in a real server it is, until the task has ended.
func (s *Server) sessionContext(c *call) error {
	x, err := s.conversation(c)
	if err != nil {
		return err
	}
	budget, err := strconv.Atoi(c.r.URL.Query().Get("token_budget"))
	if err != nil {
		budget = 128_000
	}
	if budget < 0 {
		return &refusal{
			status: http.StatusBadRequest, code: "INVALID_ARGUMENT", bare: true, message: "token_budget must be greater than or equal to 0",
			details: object{"field": "token_budget", "value": budget},
		}
	}
	shown := fit(x.live(), budget)
	failed := min(x.counts().Commits, 1) // there is no chat model
	return c.ok(object{
		"latest_archive_overview": "", "pre_archive_abstracts": []string{}, "messages": shown, "estimatedTokens": tokens(shown),
		"stats": object{
			"totalArchives": x.counts().Commits, "includedArchives": 0, "droppedArchives": x.counts().Commits - failed, "failedArchives": failed,
			"activeTokens": tokens(shown), "archiveTokens": 0,
		},
	})
}

// fit returns all messages, or else the last of a user and the last of all, cut.
func fit(all []message, budget int) []message {
	if tokens(all) <= budget {
		return append([]message{}, all...)
	}
	shown := []message{}
	user := -1
	for i, m := range all {
		if m.Role == "user" {
			user = i
		}
	}
	for i, m := range all {
		if budget > 0 && (i == user || i == len(all)-1) {
			m.Parts = []object{{"type": "text", "text": string([]rune(m.text())[:min(len([]rune(m.text())), budget)])}}
			shown = append(shown, m)
		}
	}
	return shown
}

// commitSession archives the live messages. Nothing is learnt from them: there is no chat model.
func (s *Server) commitSession(c *call) error {
	x, err := s.conversation(c)
	if err != nil {
		return err
	}
	doc := object{"session_id": x.id, "status": "skipped", "task_id": nil, "archive_uri": nil, "archived": false, "effective_enable_working_memory": false, "trace_id": ""}
	live := x.live()
	if len(live) == 0 {
		doc["reason"] = "no_messages"
		return c.lean(doc)
	}
	n := x.counts()
	n.Commits++
	n.Commit = x.now()
	archive := fmt.Sprintf("%s/archive_%03d", historyDir, n.Commits)
	x.put(archive+liveFile, lines(live))
	x.put(liveFile, nil)
	x.save(n)
	t := &task{id: newUUID(), account: x.a.name, kind: "session_commit", uri: x.id, status: statusFailed, err: "Missing credentials.", began: s.opts.Clock()}
	s.tasks[t.id] = t
	doc["status"], doc["task_id"], doc["archive_uri"], doc["archived"] = "accepted", t.id, scheme+x.path+archive, true
	doc["estimated_active_tokens"], doc["budget_exceeded"] = 0, false
	return c.lean(doc)
}

// dropSession deletes a conversation and its archives; its secrets stay.
func (s *Server) dropSession(c *call) error {
	x, err := s.conversation(c)
	if err != nil {
		return err
	}
	s.erase(x.a, x.path)
	return c.ok(object{"session_id": x.id})
}

// Messages returns role and text of all messages of a conversation, archived ones first, and
// whether it is there.
func (s *Server) Messages(account, user, id string) (all [][2]string, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[account]
	if a == nil {
		return nil, false
	}
	x := session{s, a, id, "user/" + user + "/sessions/" + id}
	for _, e := range a.files(x.path) {
		if !strings.HasSuffix(e.path, liveFile) {
			continue
		}
		old := session{s, a, id, strings.TrimSuffix(e.path, liveFile)}
		for _, m := range old.live() {
			all = append(all, [2]string{m.Role, m.text()})
		}
	}
	return all, x.exists()
}

// Sessions returns the conversations of a user.
func (s *Server) Sessions(account, user string) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.accounts[account]; a != nil {
		for _, e := range a.children("user/" + user + "/sessions") {
			if e.dir {
				ids = append(ids, strings.TrimPrefix(e.path, "user/"+user+"/sessions/"))
			}
		}
	}
	slices.Sort(ids)
	return ids
}
