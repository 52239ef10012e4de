package compat

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/internal/recall/policy"
	"github.com/amber-memory/amber/op"
)

type memTopicArgs struct {
	Type    string `json:"type" doc:"decision, architecture, bugfix, pattern, config, discovery, learning, preference, policy"`
	Title   string `json:"title"`
	Content string `json:"content"`
}

type topicSuggested struct {
	TopicKey string `json:"topic_key"`
}

var memSuggestTopicKey = op.NewTool(op.Tool{
	Op: op.MemoryList.Row, Name: "mem_suggest_topic_key", Title: "Suggest topic key", Use: "A stable topic_key for something that will change, before mem_save.",
}, func(_ context.Context, _ *op.Call, in memTopicArgs) (topicSuggested, string, error) {
	slug := slugOf(cmp.Or(strings.TrimSpace(in.Title), in.Content))
	if slug == "" {
		return topicSuggested{}, "", op.BadArgs("title or content is required")
	}
	key := cmp.Or(slugOf(in.Type), "topic") + "/" + slug
	return topicSuggested{key}, "topic_key: " + key, nil
})

// slugOf is the first words of a text as a part of a topic.
func slugOf(s string) string {
	words := strings.FieldsFunc(strings.ToLower(shown.OneLine(s, 200)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words[:min(len(words), 8)], "-")
}

type memCaptureArgs struct {
	Content   string `json:"content" need:"yes"`
	SessionID string `json:"session_id"`
	Project   string `json:"project" doc:"default: current"`
	Source    string `json:"source"`
}

type captured struct {
	Extracted  int              `json:"extracted"`
	Saved      int              `json:"saved"`
	Duplicates int              `json:"duplicates"`
	Blocked    int              `json:"blocked,omitempty"`
	Reason     string           `json:"blocked_reason,omitempty"`
	IDs        []amber.MemoryID `json:"ids"`
}

// memCapturePassive saves learnings that a rule finds in a text, all or none. No person or agent chose them, so they are derived.
var memCapturePassive = op.NewTool(op.Tool{
	Op: op.MemoryWriteBatch.Row, Name: "mem_capture_passive", Title: "Capture learnings", Hints: op.Again,
	Use: "Save the items under a heading Key Learnings of a text.",
}, func(ctx context.Context, c *op.Call, in memCaptureArgs) (captured, string, error) {
	redactAll(c, &in.Content) // before it is cut into pieces, where half a secret tells nothing
	items := learnings(in.Content)
	out := captured{Extracted: len(items), IDs: []amber.MemoryID{}}
	if len(items) == 0 {
		return out, "The content has no list of key learnings.", nil
	}
	var rs []amber.WriteRequest
	for _, item := range items {
		r := amber.WriteRequest{Kind: amber.WorkflowInsight, Title: shown.OneLine(item, 80), Content: item, Trust: amber.TrustDerived, Reason: amber.WriteObservation}
		r.Scope, r.Identities = engramPlace(c.Host, "", in.Project, in.SessionID)
		if in.Source != "" {
			r.SourceRefs = []amber.SourceRef{{Kind: "engram", Value: in.Source}}
		}
		kept, d := policyOf(c).WriteBack(amber.WriteBackInput{Lesson: amber.LessonLearning, Found: &r, Succeeded: true, Identities: r.Identities})
		if !d.Effective {
			out.Blocked, out.Reason = out.Blocked+1, d.BlockedReason
			continue
		}
		rs = append(rs, kept)
	}
	if len(rs) == 0 {
		return out, fmt.Sprintf("%d found, none was kept: %s.", out.Extracted, out.Reason), nil
	}
	acks, err := c.Store.Batch.WriteBatch(ctx, rs)
	if err != nil {
		return out, "", err
	}
	for _, ack := range acks {
		out.IDs = append(out.IDs, ack.ID)
		if ack.Deduplicated {
			out.Duplicates++
			continue
		}
		c.Did = append(c.Did, string(ack.ID))
	}
	out.Saved = len(acks) - out.Duplicates
	return out, fmt.Sprintf("%d found, %d saved, %d were known.", out.Extracted, out.Saved, out.Duplicates), nil
})

// policyOf is what decides what an agent learns without being asked.
func policyOf(a *op.Call) amber.Policy {
	if a.Policy == nil {
		return policy.Conservative{}
	}
	return a.Policy
}

var (
	learningHeading = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^#{2,3}\s+(?:key learnings|learnings|aprendizajes(?: clave)?)\s*:?\s*$`)
	})
	anyHeading = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^#{1,6}\s`)
	})
	numberedItem = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*\d+[.)]\s+(.+)$`)
	})
	bulletItem = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*[-*]\s+(.+)$`)
	})
)

// minLearning is the length below which an item says nothing.
const minLearning = 20

// learnings returns the items under the last heading about learnings: those with
// numbers, or else those with bullets, at most as many as a batch holds.
func learnings(text string) []string {
	var numbered, bullets []string
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r")
		switch {
		case learningHeading().MatchString(line):
			inside, numbered, bullets = true, nil, nil
		case anyHeading().MatchString(line):
			inside = false
		case !inside:
		case numberedItem().MatchString(line):
			numbered = appendLearning(numbered, numberedItem().FindStringSubmatch(line)[1])
		case bulletItem().MatchString(line):
			bullets = appendLearning(bullets, bulletItem().FindStringSubmatch(line)[1])
		}
	}
	if len(numbered) > 0 {
		return numbered
	}
	return bullets
}

func appendLearning(items []string, item string) []string {
	if item = strings.TrimSpace(item); len(item) < minLearning || len(items) >= amber.MaxBatchSize {
		return items
	}
	return append(items, item)
}
