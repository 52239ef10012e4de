package hook

import "github.com/amber-memory/amber"

// copilot is GitHub's CLI and cloud agent. The case of the names in the
// configuration decides the case of the payload's members; payloads with
// camelCase do not name their event. No answer of ours reaches the agent.
func copilot() dialect {
	return dialect{
		host:    Copilot,
		aliases: []string{"github-copilot", "copilot-cli"},
		events: append(claudeEvents(),
			event{"userPromptSubmitted", amber.HostPrompt, false},
			event{"agentStop", amber.HostTurnEnd, false},
			event{"errorOccurred", amber.HostError, false},
		),
		reply: none,
	}
}
