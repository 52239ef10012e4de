package image

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
)

// Keys are renamed by one table for all columns. A key that holds a secret
// becomes what any text would, and a number behind it where another key has
// become the same; an id that Amber makes becomes a new one of its kind, since
// others parse it.

const (
	// maxNames bounds the keys that are renamed, and those that might be in
	// their way.
	maxNames = 1 << 16
	// standIn begins ids that take the place of others.
	standIn = "00000000"
	// moved is the rule of what is no secret but must be renamed.
	moved = "moved-id"
)

// name returns what becomes of a key, and how many secrets were in it.
func (d *redaction) name(key string) (string, int64) {
	if harmless(key) {
		return key, 0
	}
	out, n := d.text(key)
	return d.renamed(key, out), n
}

// quietly is name for a key that is counted elsewhere.
func (d *redaction) quietly(key string) string {
	if harmless(key) {
		return key
	}
	out, _, _ := d.clean(key)
	return d.renamed(key, out)
}

// renamed returns the new name of a key that redacting made out of it.
func (d *redaction) renamed(key, out string) string {
	if name, ok := d.names[key]; ok {
		return name
	}
	if out == key {
		return key
	}
	if _, err := amber.ParseMemoryID(key); err == nil {
		return d.rename(key, d.unused(func(n int64) string { return fmt.Sprintf(standIn+"-0000-8000-8000-%012x", n) }))
	}
	base := out
	for n := 2; d.taken[out]; n++ {
		out = fmt.Sprintf("%s~%d", base, n)
	}
	return d.rename(key, out)
}

func (d *redaction) rename(key, name string) string {
	d.names[key], d.taken[name] = name, true
	return name
}

// unused makes up an id.
func (d *redaction) unused(id func(n int64) string) string {
	for {
		d.made++
		if name := id(d.made); !d.taken[name] {
			return name
		}
	}
}

// reserve notes a key that looks like a renamed one.
func (d *redaction) reserve(key string) {
	if redact.IsMarked(key) || strings.HasPrefix(key, standIn) {
		d.taken[key] = true
	}
}

func (d *redaction) checkNames() error {
	if len(d.names)+len(d.taken) > maxNames {
		return amber.Errorf(amber.KindQuota, "redact database", d.header.Schema.File, "more than %d keys hold secrets", maxNames)
	}
	return nil
}

const (
	selectTopics = `SELECT id, scope, session_id, user_id, project_id, workspace_id, topic FROM memories WHERE topic <> ''`
	isIDUsed     = `SELECT EXISTS (SELECT 1 FROM memories WHERE id = ?1) OR EXISTS (SELECT 1 FROM erased WHERE id = ?1)`
)

// topic is what the id of a memory with a topic is made of.
type topic struct {
	id    string
	scope amber.Scope
	amber.Identities
	name string
}

// key is what parts it from other topics.
func (t topic) key() [3]string { return [3]string{t.ProjectID, t.For(t.scope), t.name} }

// isDerived reports whether the id says that it was made of the rest.
func (t topic) isDerived() bool {
	const version = 14
	return len(t.id) > version && t.id[version] == '8'
}

func scanTopic(s scanner) (t topic, err error) {
	err = s.Scan(&t.id, &t.scope, &t.SessionID, &t.UserID, &t.ProjectID, &t.WorkspaceID, &t.name)
	return t, err
}

// moveTopics gives memories whose topic will be rewritten the id that the new
// topic has: the old one is a digest of the old.
func (d *redaction) moveTopics() error {
	var moving []topic
	err := d.Each(selectTopics, nil, func(s scanner) error {
		t, err := scanTopic(s)
		if err != nil {
			return err
		}
		next := topic{id: t.id, scope: t.scope, Identities: d.identities(t.Identities), name: d.quietly(t.name)}
		if t.isDerived() && t.key() != next.key() {
			moving = append(moving, next)
		}
		return d.checkNames()
	})
	if err != nil {
		return err
	}
	for _, t := range moving {
		id, err := d.topicID(t)
		if err != nil {
			return err
		}
		d.secrets.AddAs(moved, t.id, d.rename(t.id, id))
		d.topics++
	}
	return nil
}

// topicID returns the first free id of a topic.
func (d *redaction) topicID(t topic) (string, error) {
	for epoch := 0; ; epoch++ {
		id := string(amber.TopicID(t.ProjectID, t.scope, t.For(t.scope), t.name, epoch))
		var used bool
		if err := d.Row(isIDUsed, id).Scan(&used); err != nil {
			return "", err
		}
		if !used && !d.taken[id] {
			return id, nil
		}
	}
}

// identities renames what a scope is bound to.
func (d *redaction) identities(i amber.Identities) amber.Identities {
	return amber.Identities{
		SessionID: amber.SessionID(d.quietly(string(i.SessionID))), UserID: d.quietly(i.UserID),
		ProjectID: d.quietly(i.ProjectID), WorkspaceID: d.quietly(i.WorkspaceID),
	}
}
