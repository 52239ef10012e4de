package packs

// A level puts the cosines of a question and passages on the scale of the built-in model.
type level struct{ base, slope float64 }

// The cosines of the model for languages, on the scale of the built-in one. Those of questions in its languages were fitted by
// logistic regression: the odds that a passage answers a question are about the same at both cosines, where the built-in model has
// questions in English over memories in English, and the model of the pack those of nine languages over memories in theirs
// (0.083; a little more lets what is far away follow at the end). A question in English has other passages beside those of the pack, which the built-in model knows better: the level is lower, so
// that no more than one question in forty loses its answer to a passage in another language. Those of two passages put
// the quantiles of both models on each other. All were chosen on development data; docs/recall.md has the figures.
var (
	asked        = level{0.115, 1.31}
	askedEnglish = level{0.05, 0.8}
	between      = level{0.015, 1.3}
)

func (l level) of(cosine float64) float64 { return l.base + float64(l.slope*cosine) }

// Level returns what puts a cosine of the model on the scale of the built-in model: that of two passages, or that of a passage and
// a question, which is in English or not.
func (p Pack) Level(english bool) func(cosine float64, question bool) float64 {
	ask := asked
	if english {
		ask = askedEnglish
	}
	return func(cosine float64, question bool) float64 {
		if question {
			return ask.of(cosine)
		}
		return between.of(cosine)
	}
}
