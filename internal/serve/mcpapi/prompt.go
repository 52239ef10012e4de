package mcpapi

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// The requests of the prompts; the memories of Amber follow them.
const (
	askRecall  = "Here is what Amber remembers about this topic. Say what of it matters now, and what seems outdated.\n\n"
	askHandoff = "Write a handoff for the next person or agent on this work: the goal, what is done, what was decided and why, what is open, what to do next. " +
		"Save it with session_summary, and each lasting fact with memory_save. This is what is known already:\n\n"
	askSummary = "Summarise this session: the goal, what was done, what was decided and why, what is open. " +
		"Save it with session_summary. Earlier sessions left this:\n\n"
)

func (b *bound) addPrompts(s *mcp.Server) {
	topic := []*mcp.PromptArgument{{Name: "topic", Description: "what it is about", Required: true}}
	for _, p := range []struct {
		prompt mcp.Prompt
		ask    string
	}{
		{mcp.Prompt{Name: "recall", Title: "Recall a topic", Description: "What Amber remembers about a topic.", Arguments: topic}, askRecall},
		{mcp.Prompt{Name: "handoff", Title: "Hand the work over", Description: "Write and save a handoff."}, askHandoff},
		{mcp.Prompt{Name: "summary", Title: "Summarise the session", Description: "Write and save a summary of this session."}, askSummary},
	} {
		s.AddPrompt(&p.prompt, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			goal := ""
			if len(p.prompt.Arguments) > 0 {
				if goal = req.Params.Arguments["topic"]; goal == "" {
					return nil, op.BadArgs("topic is missing")
				}
			}
			return b.prompt(ctx, b.speaker(req), p.prompt.Description, p.ask, goal)
		})
	}
}

// prompt puts a question in front of what is remembered about a goal.
func (b *bound) prompt(ctx context.Context, who op.Caller, description, ask, goal string) (*mcp.GetPromptResult, error) {
	var text string
	err := b.do(ctx, who, "get_prompt", op.MemoryContext.Row, func(ctx context.Context, c *op.Call) (err error) {
		_, text, err = c.Context(ctx, goal, amber.Identities{}, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &mcp.GetPromptResult{
		Description: description,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: ask + text}}},
	}, nil
}
