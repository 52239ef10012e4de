package memory

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
)

func (a *app) getCommand() *cobra.Command {
	return cli.Verb("get", func(cmd *cobra.Command, args []string) error {
		return a.WithMemory(cmd, args[0], func(ctx context.Context, s *cli.Opened, id amber.MemoryID) error {
			return cli.Answer(s.Store.Memories.Get(ctx, id))(a.Out, a.printMemory)
		})
	})
}

// printMemory prints one memory whole: what it is called, what is known about it,
// what it says.
func (a *app) printMemory(w io.Writer, m amber.Memory) {
	p := a.Out
	if m.Title != "" {
		fmt.Fprintln(w, p.Style(cli.Bold, cli.OneLine(m.Title, amber.MaxTitleBytes)))
	}
	fmt.Fprintln(w, p.Style(cli.Amb, string(m.ID)))
	facts := []string{
		string(m.Kind), place(m), string(m.Trust), fmt.Sprintf("revision %d", m.Revision), "created " + p.When(m.CreatedAt),
	}
	if m.UpdatedAt != m.CreatedAt {
		facts = append(facts, "updated "+p.When(m.UpdatedAt))
	}
	cli.Wrapped(w, 4, "%s", p.Style(cli.Dim, strings.Join(facts, " · ")))
	if m.Author != (amber.Author{}) {
		p.Fact(w, "by", words.Author(m.Trust, m.Author))
	}
	p.Fact(w, "topic", m.Topic)
	p.Fact(w, "tags", strings.Join(m.Tags, ", "))
	for _, k := range slices.Sorted(maps.Keys(m.Metadata)) {
		p.Fact(w, "meta", k+"="+m.Metadata[k])
	}
	for _, ref := range m.SourceRefs {
		p.Fact(w, "source", ref.Kind+":"+ref.Value)
	}
	p.Fact(w, "summary", m.Summary)
	fmt.Fprintf(w, "\n%s\n", strings.TrimSuffix(cli.Safe(m.Content), "\n"))
}

// place tells the scope of a memory and what it is bound to.
func place(m amber.Memory) string {
	if id := m.Identity(); id != "" {
		return string(m.Scope) + " " + cli.OneLine(id, amber.MaxIDBytes)
	}
	return string(m.Scope)
}
