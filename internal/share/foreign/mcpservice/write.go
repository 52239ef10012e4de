package mcpservice

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

type exportHead struct {
	SourceMachine     string   `json:"source_machine"`
	ExportTimestamp   string   `json:"export_timestamp"`
	TotalMemories     int      `json:"total_memories"`
	DatabasePath      string   `json:"database_path"`
	IncludeEmbeddings bool     `json:"include_embeddings"`
	FilterTags        []string `json:"filter_tags"`
	ExporterVersion   string   `json:"exporter_version"`
}

type memoryRow struct {
	Content      string            `json:"content"`
	ContentHash  string            `json:"content_hash"`
	Tags         []string          `json:"tags"`
	CreatedAt    json.Number       `json:"created_at"`
	UpdatedAt    json.Number       `json:"updated_at"`
	MemoryType   string            `json:"memory_type"`
	Metadata     map[string]string `json:"metadata"`
	Store        string            `json:"store"`
	ExportSource string            `json:"export_source"`
}

// source is the name under which Amber exports memories to the program.
const source = "amber"

// write writes both members that the program asks for, with a memory on each line.
func write(ctx context.Context, c foreign.Contents, o foreign.WriteOptions, to foreign.Output) error {
	head := exportHead{SourceMachine: source, ExportTimestamp: o.At.String(), DatabasePath: "unknown", ExporterVersion: source}
	if err := c.Memories(ctx, func(amber.Memory) error { head.TotalMemories++; return nil }); err != nil {
		return err
	}
	return foreign.WriteFile(to, "", func(out *bufio.Writer) error {
		fmt.Fprintf(out, "{\n  \"export_metadata\": %s,\n  \"memories\": [", foreign.JSON(head)) // an error comes again
		before := "\n    "
		err := c.Memories(ctx, func(m amber.Memory) error {
			_, err := fmt.Fprintf(out, "%s%s", before, foreign.JSON(rowOf(m)))
			before = ",\n    "
			return err
		})
		if err == nil {
			_, err = out.WriteString("\n  ]\n}\n")
		}
		return err
	})
}

func rowOf(m amber.Memory) memoryRow {
	r := memoryRow{
		Content: m.Content, ContentHash: hashOf(m.Content), Tags: append([]string{}, m.Tags...), CreatedAt: seconds(m.CreatedAt), UpdatedAt: seconds(m.UpdatedAt),
		MemoryType: typeOf(m), Metadata: map[string]string{}, Store: defaultStore, ExportSource: source,
	}
	for k, v := range m.Metadata {
		r.Metadata[k] = v
	}
	if m.Title != "" {
		r.Metadata["title"] = m.Title
	}
	r.Metadata["amber_id"] = string(m.ID)
	return r
}

// hashOf is how the program names a memory.
func hashOf(content string) string {
	return amber.ContentDigest(strings.ToLower(strings.TrimSpace(content)))
}

// seconds returns a time as the program writes it.
func seconds(t amber.Time) json.Number {
	return json.Number(fmt.Sprintf("%d.%03d", t.UnixMilli()/1000, t.UnixMilli()%1000))
}

// typeOf returns the type that the memory came with, or the one of its kind.
func typeOf(m amber.Memory) string {
	var kept struct {
		MemoryType string `json:"memory_type"`
	}
	if json.Unmarshal(m.Foreign[name], &kept) == nil && kept.MemoryType != "" && kindOf(kept.MemoryType) == m.Kind {
		return kept.MemoryType
	}
	switch m.Kind {
	case amber.ProjectFact:
		return "decision"
	case amber.WorkflowInsight:
		return "learning"
	case amber.HistoricalCase:
		return "error"
	}
	return "note"
}
