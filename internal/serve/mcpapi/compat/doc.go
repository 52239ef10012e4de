// Package compat has the tools of other memory servers under their names and with their arguments, so that agents and prompts that were
// made for those find their memory in Amber. The tools are rows like those of package op.
package compat

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// Profiles returns the imitated tools, in the order of the lists that are made of them.
func Profiles() []op.Profile {
	return []op.Profile{
		{Name: "engram", Tools: []*op.Tool{
			memSave, memSearch, memContext, memSessionSummary, memSessionStart, memSessionEnd, memGetObservation, memSuggestTopicKey,
			memCapturePassive, memSavePrompt, memUpdate, memDelete, memStats, memTimeline, memPin, memUnpin, memReview, memJudge, memCompare,
			memMergeProjects, memCurrentProject, memDoctor,
		}},
		{Name: "reference", Tools: []*op.Tool{
			createEntities, createRelations, addObservations, deleteEntities, deleteObservations, deleteRelations, readGraph, searchNodes, openNodes,
		}},
		{Name: "chatgpt", Tools: []*op.Tool{search, fetch}},
		{Name: "files", Tools: []*op.Tool{memory}},
	}
}

// alone waits until no other call changes the parts of the agent that have no revisions.
func alone(ctx context.Context, c *op.Call) (unlock func(), err error) {
	return c.House.Alone(ctx, c.Host.Tenant, c.Host.Agent)
}

// memoryOf reads a memory that a call names.
func memoryOf(ctx context.Context, c *op.Call, named string) (m amber.Memory, err error) {
	return op.MemoryGet.Call(ctx, c, op.MemoryID{ID: named})
}

// maxRepeated bounds what an answer repeats of a call.
const maxRepeated = 2000
