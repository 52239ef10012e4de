package agent

import (
	"testing"

	"github.com/amber-memory/amber/internal/recall/packs"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestModelsByLanguage says which models know a question and a passage, as the table above the models has it.
func TestModelsByLanguage(t *testing.T) {
	t.Parallel()
	pack := &packs.Model{Pack: must.Get(packs.Find(packs.Languages))(t)}
	models := search.Several{foreign{pack}, translated{foreign{pack}}, english{pack: pack.Pack}}
	const isForeign, isTranslated, isEnglish = 1, 2, 4
	for text, want := range map[string]struct{ question, passage int }{
		"Why did we pick the database that we have?": {isForeign | isEnglish, isTranslated | isEnglish},
		"PostgreSQL": {isForeign | isEnglish, isTranslated | isEnglish},
		"Warum haben wir die Datenbank genommen?": {isForeign | isTranslated, isForeign | isEnglish},
		"なぜこのデータベースを選んだのですか":                      {isForeign | isTranslated, isForeign | isEnglish},
		"हमने यह डेटाबेस क्यों चुना":              {isEnglish, isEnglish},
	} {
		knows := func(question bool) (got int) {
			for i, m := range models {
				if search.Knows(m, text, question) {
					got |= 1 << i
				}
			}
			return got
		}
		must.Equal(t, "question: "+text, knows(true), want.question)
		must.Equal(t, "passage: "+text, knows(false), want.passage)
	}
	must.Equal(t, "the space", search.SpaceOf(models[1]), models[0].Name())
	must.Equal(t, "names of both", models.Name(), pack.Name()+" + "+models[2].Name())
}

func TestAQuestionThatAPackWouldRead(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"Warum haben wir die Datenbank genommen?":    "questions in German are answered by words alone: amber index models add languages",
		"Why did we pick the database that we have?": "",
		"हमने यह डेटाबेस क्यों चुना":                 "",
	} {
		must.Equal(t, question, alone{}.Lacks(question), want)
	}
}
