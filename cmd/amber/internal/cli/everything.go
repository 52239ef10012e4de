package cli

import (
	"fmt"

	"github.com/amber-memory/amber"
)

// Everything returns the leave to ask everything of an opened agent. Without it, why says who decides: the store of a server
// knows no such question, and what an agent's shell asks is the question of the agent.
func (a *App) Everything(s *Opened) (leave amber.Leave, why string) {
	if s.Remote != nil || s.Local == nil {
		return amber.Leave{}, "the memory lies on a server, which answers for the project alone"
	}
	w := a.Writer()
	if w.Trust != amber.TrustOwn && !s.Config.Config.Memory.Recall.AgentsAskAll {
		return amber.Leave{}, fmt.Sprintf("the command runs in the shell of an agent (%s), so the answer holds what this project sees; memory.recall.agents_ask_all allows more", w.Author.Host)
	}
	return amber.LeaveOfOwner(), ""
}
