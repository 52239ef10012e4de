package agent

import (
	"fmt"

	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/recall/embed"
	"github.com/amber-memory/amber/internal/recall/lang"
	"github.com/amber-memory/amber/internal/recall/packs"
	"github.com/amber-memory/amber/internal/recall/search"
)

// NewModel returns what makes vectors as a configuration says, with the packs of a home; nil where nothing does.
// Nothing is asked yet. Getenv reads the environment. Errors: invalid.
func NewModel(c config.Search, home string, getenv func(string) string) (search.Model, error) {
	switch c.Model {
	case config.ModelNone, "":
		return nil, nil
	case config.ModelBuiltin:
		if !embed.HasBuiltin {
			return nil, nil
		}
		return builtin(home), nil
	}
	o := embed.EndpointOptions{URL: c.Model, Model: c.ModelName}
	if c.KeyEnv != "" {
		o.Key = getenv(c.KeyEnv)
	}
	e, err := embed.NewEndpoint(o)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// builtin returns the built-in model, with the pack for languages where a home has it. A pack that cannot be opened is left
// out: modelNote says so.
func builtin(home string) search.Model {
	pack, err := packs.Open(home, packs.Languages)
	if err != nil || pack == nil {
		return alone{}
	}
	return search.Several{foreign{pack}, translated{foreign{pack}}, english{pack: pack.Pack}}
}

// Which model is asked is decided by the language of the question, and which vectors there are by that of the passage:
//
//	                     passage in English, or unknown    in a language of the pack
//	question in English            english                        foreign
//	in a language of the pack      translated                     foreign
//	in another language            english                        english
//
// So a question in English over passages in English has the answer that it has without a pack. The passages of foreign and
// translated have vectors of the same model, and no passage is of both.

// isForeign reports whether a text is in a language of the pack other than English. Where the language cannot be seen, as of a name
// or a line of code, a text counts as English.
func isForeign(p packs.Pack, text string) bool {
	tag := lang.Of(text)
	return tag != "en" && p.Knows(tag)
}

// isEnglish reports whether a text is in English, or may be.
func isEnglish(text string) bool {
	tag := lang.Of(text)
	return tag == "en" || tag == ""
}

// english is the built-in model beside the pack. Every passage has a vector of it, as without a pack.
type english struct {
	embed.OnDemand
	pack packs.Pack
}

// Knows implements [search.Choosy].
func (m english) Knows(text string, question bool) bool { return !question || !isForeign(m.pack, text) }

// foreign is the model of the pack over passages in its languages other than English.
type foreign struct{ *packs.Model }

// Knows implements [search.Choosy].
func (m foreign) Knows(text string, question bool) bool {
	return isForeign(m.Pack, text) || question && isEnglish(text)
}

// Level implements [search.Levelled].
func (m foreign) Level(question string) func(cosine float64, question bool) float64 {
	return m.Pack.Level(isEnglish(question))
}

// translated is the model of the pack over passages in English.
type translated struct{ foreign }

// Name implements [search.Model].
func (m translated) Name() string { return m.foreign.Name() + "/en" }

// Space implements [search.Sharing].
func (m translated) Space() string { return m.foreign.Name() }

// Knows implements [search.Choosy].
func (m translated) Knows(text string, question bool) bool {
	if question {
		return isForeign(m.Pack, text)
	}
	return isEnglish(text)
}

// alone is the built-in model without a pack.
type alone struct{ embed.OnDemand }

// Lacks implements [search.Lacking].
func (alone) Lacks(question string) string {
	p, err := packs.Find(packs.Languages)
	tag := lang.Of(question)
	if err != nil || tag == "en" || !p.Knows(tag) {
		return ""
	}
	return fmt.Sprintf("questions in %s are answered by words alone: amber index models add %s", lang.Name(tag), p.Name)
}

// modelNote says why a model that is configured, or installed, is not used; "" where all are.
func modelNote(c config.Search, home string) string {
	if c.Model != config.ModelBuiltin {
		return ""
	}
	if !embed.HasBuiltin {
		return "search.model is builtin, and this program was built without a model"
	}
	if _, err := packs.Open(home, packs.Languages); err != nil {
		return fmt.Sprintf("the pack %s is not used: %v", packs.Languages, err)
	}
	return ""
}
