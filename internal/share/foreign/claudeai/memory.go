package claudeai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// remembered is what Claude remembers of an account. The account itself comes last in a file.
type remembered struct {
	Conversations string                     `json:"conversations_memory"`
	Projects      map[string]json.RawMessage `json:"project_memories"`
	Files         []json.RawMessage          `json:"memory_files"`
	Account       string                     `json:"account_uuid"`
}

// memories reads the memories of every account.
func (r *reader) memories() error { return r.each(memories, r.memoryFile) }

// memoryFile reads an object, or a list of objects. It reads the parts of an object one at a time, so that it gets
// what a file holds that was cut off.
func (r *reader) memoryFile(f foreign.File) error {
	account, known := r.account(f)
	place := func(at string) foreign.Place { return foreign.Place{File: f.Name, At: at} }
	if !known {
		r.to.Skip(place(""), "file is cut before account_uuid: its memories would not be known again")
		return nil
	}
	return r.document(f, true, foreign.Document{
		Element: func(list string, n int64, raw []byte) error {
			switch list {
			case "":
				return r.remembered(f, n, account, raw)
			case "memory_files":
				return r.memoryOfFile(place(fmt.Sprintf("memory file %d", n)), account, raw)
			}
			return nil
		},
		Member: func(member string, raw []byte) error {
			var part remembered
			into, ok := map[string]any{"conversations_memory": &part.Conversations, "project_memories": &part.Projects}[member]
			if !ok || !r.decode(place(member), raw, into) {
				return nil
			}
			return r.parts(f, "", account, part)
		},
	})
}

// account returns whose memories a file holds: as the file says, else as its name does. It is not known where a file ends
// before it says so.
func (r *reader) account(f foreign.File) (account string, known bool) {
	object, cut := false, false
	err := foreign.ReadDocument(f, func(foreign.Place, string, ...any) { cut = true }, foreign.Document{
		Element: func(list string, _ int64, _ []byte) error { object = object || list != ""; return nil },
		Decodes: true,
		Member: func(member string, raw []byte) error {
			object = true
			if member == "account_uuid" && foreign.Decode(raw, &account) != nil {
				account = ""
			}
			return nil
		},
	})
	if account == "" && inFolder(r.tree, f, memories.String()) {
		account = f.Stem()
	}
	return account, account != "" || !object || !cut && err == nil
}

// remembered reads one object of a list.
func (r *reader) remembered(f foreign.File, n int64, account string, raw []byte) error {
	var m remembered
	at := fmt.Sprintf("element %d", n)
	if !r.decode(foreign.Place{File: f.Name, At: at}, raw, &m) {
		return nil
	}
	return r.parts(f, at+", ", cmp.Or(m.Account, account), m)
}

// parts gives out the memories of an object, or of a part of it.
func (r *reader) parts(f foreign.File, at, account string, m remembered) error {
	place := func(what string) foreign.Place { return foreign.Place{File: f.Name, At: at + what} }
	counts := map[string]int{}
	for _, s := range sections(m.Conversations) {
		key := foreign.Key{account, "conversations", s.heading}
		if counts[s.heading]++; counts[s.heading] > 1 {
			key = append(key, strconv.Itoa(counts[s.heading]))
		}
		err := r.memory(foreign.Memory{
			Place: place(strings.TrimSpace("conversations_memory " + clip.Bytes(s.heading, 60))), Key: key, Kind: amber.UserFact, Scope: amber.ScopeUser,
			Title: s.heading, Topic: s.heading, Content: s.text,
		})
		if err != nil {
			return err
		}
	}
	for i, raw := range m.Files {
		if err := r.memoryOfFile(place(fmt.Sprintf("memory file %d", i+1)), account, raw); err != nil {
			return err
		}
	}
	return r.memoriesOfProjects(place, m.Projects)
}

func (r *reader) memoriesOfProjects(place func(string) foreign.Place, of map[string]json.RawMessage) error {
	for _, id := range slices.Sorted(maps.Keys(of)) {
		var text string
		if json.Unmarshal(of[id], &text) != nil {
			r.to.Skip(place("project "+clip.Bytes(id, 60)), "memory is not text")
			continue
		}
		m := foreign.Memory{
			Place: place("project " + clip.Bytes(id, 60)), Key: foreign.Key{id}, Kind: amber.ProjectFact, Scope: amber.ScopeProject, Content: text,
			Foreign: map[string]string{"project_uuid": id},
		}
		m.ProjectID = r.projectName(id)
		if err := r.memory(m); err != nil {
			return err
		}
	}
	return nil
}

// projectName returns the project of what is said about one: its name, where that can be the name of a project here.
func (r *reader) projectName(uuid string) string {
	if r.o.Project != "" {
		return r.o.Project
	}
	if p := r.named[uuid]; p != nil {
		if id := strings.Join(strings.Fields(p.Name), " "); amber.CheckID("project", id) == nil {
			return id
		}
	}
	return uuid
}

// memoryOfFile gives out the memory of a file that Claude keeps for itself.
func (r *reader) memoryOfFile(at foreign.Place, account string, raw []byte) error {
	var file struct {
		Path      string `json:"path"`
		Content   string `json:"content"`
		UpdatedAt moment `json:"updated_at"`
	}
	switch {
	case !r.decode(at, raw, &file):
		return nil
	case file.Path == "":
		r.to.Skip(at, "memory file has no path")
		return nil
	case file.UpdatedAt.err != nil:
		r.to.Skip(at, "%v", file.UpdatedAt.err)
		return nil
	}
	return r.memory(foreign.Memory{
		Place: at, Key: foreign.Key{account, file.Path}, Kind: amber.UserFact, Scope: amber.ScopeUser, Topic: file.Path, Content: file.Content,
		CreatedAt: file.UpdatedAt.at, UpdatedAt: file.UpdatedAt.at,
	})
}

// memory gives out a memory, unless it is empty or was given out before.
func (r *reader) memory(m foreign.Memory) error {
	if m.Content = strings.TrimSpace(m.Content); m.Content == "" {
		return nil
	}
	if r.seen.Add(append(foreign.Key{"memory"}, m.Key...)) != foreign.First {
		r.to.Skip(m.Place, "memory is there twice; the first is read")
		return nil
	}
	return r.to.Memory(m)
}
