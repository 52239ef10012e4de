package contextblock

import (
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestPromptsThatAskAreKnown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Did we ever choose a queue?", "remind me which port the proxy has", "Last time the build hung, what was it?", "why don’t we use floats",
		"Haben wir das schon einmal gemessen?", "¿Qué decidimos sobre los precios?", "Rappelle-moi le nom du serveur", "A gente já tinha um limite?",
		"前回の原因は何だった?", "我们之前为什么放弃了它？", "does shop round twice?",
	} {
		must.Equal(t, text, asksEarlier(text, "github.com/acme/shop"), true)
	}
	for _, text := range []string{"rename the type", "what does this function do?", "we decided to drop it, remove the code", "go on", "the workshop is closed?"} {
		must.Equal(t, text, asksEarlier(text, "github.com/acme/shop"), false)
	}
}

func TestQuestionsAloneAreNoEvidence(t *testing.T) {
	t.Parallel()
	must.Equal(t, "a question", onlyAsks("Why do we round twice?\nyes, go on"), true)
	must.Equal(t, "with an answer", onlyAsks("Why do we round twice?\nThe cart rounds as well as the checkout."), false)
}
