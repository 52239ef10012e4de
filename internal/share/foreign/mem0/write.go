package mem0

import (
	"bufio"
	"context"
	"crypto/md5" // the program's own digest of a text, which protects nothing
	"encoding/hex"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

type itemLine struct {
	ID         string            `json:"id"`
	Memory     string            `json:"memory"`
	Hash       string            `json:"hash"`
	CreatedAt  string            `json:"created_at"`
	UpdatedAt  string            `json:"updated_at"`
	UserID     string            `json:"user_id,omitempty"`
	AgentID    string            `json:"agent_id,omitempty"`
	RunID      string            `json:"run_id,omitempty"`
	AppID      string            `json:"app_id,omitempty"`
	Categories []string          `json:"categories"`
	Metadata   map[string]string `json:"metadata"`
}

// isoTime is how the program writes a time.
const isoTime = "2006-01-02T15:04:05.000-07:00"

// write writes a list with an item on each line.
func write(ctx context.Context, c foreign.Contents, o foreign.WriteOptions, to foreign.Output) error {
	return foreign.WriteFile(to, "", func(out *bufio.Writer) error {
		before := "[\n"
		err := c.Memories(ctx, func(m amber.Memory) error {
			_, err := fmt.Fprintf(out, "%s  %s", before, foreign.JSON(lineOf(m, o)))
			before = ",\n"
			return err
		})
		end := "\n]\n"
		if before == "[\n" {
			end = "[]\n"
		}
		if err == nil {
			_, err = out.WriteString(end)
		}
		return err
	})
}

func lineOf(m amber.Memory, o foreign.WriteOptions) itemLine {
	sum := md5.Sum([]byte(m.Content))
	l := itemLine{
		ID: string(m.ID), Memory: m.Content, Hash: hex.EncodeToString(sum[:]), AgentID: string(o.Agent), AppID: m.ProjectID,
		CreatedAt: m.CreatedAt.Time().Format(isoTime), UpdatedAt: m.UpdatedAt.Time().Format(isoTime),
		Categories: append([]string{}, m.Tags...), Metadata: map[string]string{},
	}
	switch m.Scope { // the first of these that an item has is whose it is
	case amber.ScopeUser:
		l.UserID = m.UserID
	case amber.ScopeSession:
		l.RunID = string(m.SessionID)
	}
	for k, v := range m.Metadata {
		l.Metadata[k] = v
	}
	if m.Title != "" {
		l.Metadata["title"] = m.Title
	}
	l.Metadata["amber_id"], l.Metadata[kindMark] = string(m.ID), string(m.Kind)
	return l
}
