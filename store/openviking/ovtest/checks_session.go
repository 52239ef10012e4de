package ovtest

import (
	"fmt"
	"net/url"
	"strings"
)

const sessions = "/api/v1/sessions"

func sessionChecks() []check {
	return []check{
		{"session/create", func(w *world) {
			var made struct {
				ID  string `json:"session_id"`
				URI string
			}
			w.converse("s-1").into(&made)
			same(made.ID, "s-1", "id")
			same(made.URI, "viking://user/u1/sessions/s-1", "URI")
			w.converse("s-1").refused(409, "ALREADY_EXISTS")
			same(w.conversation("s-1"), talk{}, "a new one")
		}},
		{"session/names-are-kept", func(w *world) {
			for _, id := range []string{"amber-0123456789abcdef-s-0199f3c0-1111-7222-8333-444455556666", strings.Repeat("x", 200), "A_b"} {
				w.converse(id).ok()
				w.say(id, spoken("user", "one", "")).ok()
				same(w.conversation(id).Live, 1, "messages of "+id)
			}
			w.converse("..").refused(403, "PERMISSION_DENIED")
		}},
		{"session/none", func(w *world) {
			w.send("GET", sessions+"/none", nil).refused(404, "NOT_FOUND")
			w.send("GET", sessions+"/none/context", nil).refused(404, "NOT_FOUND")
			w.send("POST", sessions+"/none/commit", object{}).refused(404, "NOT_FOUND")
			w.send("DELETE", sessions+"/none", nil).refused(404, "NOT_FOUND")
		}},
		{"session/of-others", func(w *world) {
			w.say("s-1", spoken("user", "one", "")).ok()
			w.as(w.newUser("u2"), "GET", sessions+"/s-1", nil).refused(404, "NOT_FOUND")
			w.as(w.newAccount(w.account+"x", "u1"), "GET", sessions+"/s-1", nil).refused(404, "NOT_FOUND")
		}},
		{"messages/in-order", func(w *world) {
			var added struct {
				Added int
				Count int `json:"message_count"`
			}
			w.say("s-1", spoken("user", " one \n", "t-1"), spoken("assistant", "two\u2028\x00", "")).into(&added)
			w.say("s-1", spoken("tool", "three", "t-3"), spoken("system", "four", "t-4")).into(&added)
			hold(added.Added == 2 && added.Count == 4, "added: %+v", added)
			equal(w.said("s-1", 1_000_000), []string{"user t-1  one \n", "assistant  two\u2028\x00", "tool t-3 three", "system t-4 four"}, "messages")
		}},
		{"messages/again-are-added-again", func(w *world) {
			for range 2 {
				w.say("s-1", spoken("user", "one", "t-1")).ok()
			}
			equal(w.said("s-1", 1_000_000), []string{"user t-1 one", "user t-1 one"}, "messages")
			same(w.conversation("s-1"), talk{Live: 2, Total: 2}, "counts")
		}},
		{"messages/make-the-session", func(w *world) {
			w.say("s-1", spoken("user", "one", "")).ok()
			w.converse("s-1").refused(409, "ALREADY_EXISTS")
		}},
		{"messages/one-hundred", func(w *world) {
			var many []object
			for i := range 101 {
				many = append(many, spoken("user", fmt.Sprint(i), ""))
			}
			w.say("s-1", many...).refused(400, "INVALID_ARGUMENT")
			w.send("GET", sessions+"/s-1", nil).refused(404, "NOT_FOUND")
			w.say("s-1", many[:100]...).ok()
			same(w.conversation("s-1").Live, 100, "messages")
		}},
		{"messages/all-or-none", func(w *world) {
			w.say("s-1", spoken("user", "one", ""), object{"role": "user"}).refused(400, "INVALID_ARGUMENT")
			w.say("s-1", spoken("user", "one", ""), object{"content": "two"}).refused(400, "INVALID_ARGUMENT")
			w.send("GET", sessions+"/s-1", nil).refused(404, "NOT_FOUND")
		}},
		{"messages/secrets-are-taken-out", func(w *world) {
			w.say("s-1", spoken("user", "password=quuxzappo99 of the gateway", "t-1")).ok()
			said := w.said("s-1", 1_000_000)
			hold(len(said) == 1 && strings.HasPrefix(said[0], "user t-1 password={{ov_privacy:session:s-1:") && strings.HasSuffix(said[0], " of the gateway"), "messages: %q", said)
			w.send("DELETE", sessions+"/s-1", nil).ok()
			same(w.forgotten("s-1"), true, "the secrets outlive the session")
			same(w.forgotten("s-1"), false, "forgotten twice")
			same(w.forgotten("none"), false, "forgotten of a session that never was")
		}},
		{"context/always-shows-the-last", func(w *world) {
			for i := range 4 {
				w.say("s-1", spoken("user", strings.Repeat("word ", 2000), ""), spoken("assistant", strings.Repeat("word ", 2000), ""), spoken([]string{"tool", "system", "assistant", "user"}[i], strings.Repeat("word ", 2000), fmt.Sprint("t-", i))).ok()
				said := w.said("s-1", 1000)
				hold(len(said) > 0 && len(said) < 3, "a budget shows %d messages", len(said))
				last := strings.Fields(said[len(said)-1])
				same(last[1], fmt.Sprint("t-", i), "the last message")
			}
			same(len(w.said("s-1", 0)), 0, "messages without a budget")
			w.send("GET", sessions+"/s-1/context?token_budget=-1", nil).refused(400, "INVALID_ARGUMENT")
		}},
		{"commit/archives", func(w *world) {
			w.say("s-1", spoken("user", "one", ""), spoken("user", "two", "")).ok()
			first := w.commit("s-1")
			hold(first.Archived && first.Status == "accepted" && first.URI == "viking://user/u1/sessions/s-1/history/archive_001", "commit: %+v", first)
			same(w.conversation("s-1"), talk{Total: 2, Commits: 1}, "counts")
			again := w.commit("s-1")
			hold(!again.Archived && again.Status == "skipped" && again.Reason == "no_messages", "commit without messages: %+v", again)
			w.say("s-1", spoken("user", "three", "")).ok()
			same(w.conversation("s-1"), talk{Live: 1, Total: 3, Commits: 1}, "counts")
			hold(w.commit("s-1").Archived, "the second commit archives nothing")
			same(w.conversation("s-1"), talk{Total: 3, Commits: 2}, "counts")
		}},
		{"commit/of-nothing-is-told-from-one-that-was", func(w *world) {
			w.converse("s-1").ok()
			hold(!w.commit("s-1").Archived, "a commit archives nothing")
			same(w.conversation("s-1"), talk{}, "counts")
		}},
		{"commit/without-a-chat-model-fails-and-keeps-the-archive", func(w *world) {
			w.say("s-1", spoken("user", "one", "")).ok()
			task := w.commit("s-1").Task
			w.until("the task ends", func() bool { return w.task(task) == "failed" })
			same(w.conversation("s-1"), talk{Total: 1, Commits: 1}, "counts")
			same(len(w.said("s-1", 1_000_000)), 0, "messages that are shown")
			file := w.send("GET", uri("/api/v1/content/download", "viking://user/u1/sessions/s-1/history/archive_001/messages.jsonl", ""), nil).ok()
			hold(strings.Contains(string(file.raw), `"one"`), "the archive is %s", short(file.raw))
		}},
		{"drop/removes-messages-and-archives", func(w *world) {
			w.say("s-1", spoken("user", "one", "")).ok()
			w.commit("s-1")
			w.say("s-1", spoken("user", "two", "")).ok()
			w.send("DELETE", sessions+"/s-1", nil).ok()
			w.send("DELETE", sessions+"/s-1", nil).refused(404, "NOT_FOUND")
			w.send("GET", uri("/api/v1/fs/stat", "viking://user/u1/sessions/s-1", ""), nil).refused(404, "NOT_FOUND")
			w.converse("s-1").ok()
			same(w.conversation("s-1"), talk{}, "one made anew")
		}},
		{"drop/does-not-come-back-after-a-commit", func(w *world) {
			w.say("s-1", spoken("user", "one", "")).ok()
			task := w.commit("s-1").Task
			w.send("DELETE", sessions+"/s-1", nil).ok()
			w.until("the task ends", func() bool { return w.task(task) == "failed" })
			w.send("GET", sessions+"/s-1", nil).refused(404, "NOT_FOUND")
		}},
		{"session/is-listed", func(w *world) {
			w.say("s-1", spoken("user", "one", "")).ok()
			w.converse("s-2").ok()
			var names []string
			w.send("GET", uri("/api/v1/fs/ls", "viking://user/u1/sessions", "&recursive=true&simple=true&limit=1000"), nil).into(&names)
			const at = "viking://user/u1/sessions/"
			equal(names, []string{at + "s-1", at + "s-1/messages.jsonl", at + "s-2", at + "s-2/messages.jsonl"}, "names")
		}},
	}
}

// spoken is a message; an empty tag is left out.
func spoken(role, content, tag string) object {
	m := object{"role": role, "content": content}
	if tag != "" {
		m["turn_id"] = tag
	}
	return m
}

func (w *world) converse(id string) answer {
	return w.send("POST", sessions, object{"session_id": id, "auto_commit_policy": nil})
}

func (w *world) say(id string, messages ...object) answer {
	return w.send("POST", sessions+"/"+url.PathEscape(id)+"/messages/batch", object{"messages": messages})
}

// talk is what is counted of a conversation.
type talk struct {
	Live    int `json:"message_count"`
	Total   int `json:"total_message_count"`
	Commits int `json:"commit_count"`
}

func (w *world) conversation(id string) (t talk) {
	w.send("GET", sessions+"/"+id, nil).into(&t)
	return t
}

// said returns the messages that are shown: role, tag and text.
func (w *world) said(id string, budget int) (all []string) {
	var shown struct {
		Messages []struct {
			Role  string
			Tag   string `json:"turn_id"`
			Parts []struct{ Text string }
		}
	}
	w.send("GET", fmt.Sprint(sessions, "/", id, "/context?token_budget=", budget), nil).into(&shown)
	for _, m := range shown.Messages {
		all = append(all, m.Role+" "+m.Tag+" "+m.Parts[0].Text)
	}
	return all
}

// committed is the answer to a commit.
type committed struct {
	Status   string
	Reason   string
	Archived bool
	Task     string `json:"task_id"`
	URI      string `json:"archive_uri"`
}

func (w *world) commit(id string) (c committed) {
	w.send("POST", sessions+"/"+id+"/commit", object{}).into(&c)
	return c
}

// forgotten reports whether there were secrets of a conversation, which are gone now.
func (w *world) forgotten(id string) bool {
	var gone struct{ Deleted bool }
	w.send("DELETE", "/api/v1/privacy-configs/session/"+id, nil).into(&gone)
	return gone.Deleted
}
