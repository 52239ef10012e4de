package search

// maxQuestions is how many bytes of questions and their vectors are kept.
const maxQuestions = 1 << 20

// Questions keeps what questions mean to models: agents ask again what they asked before. It
// is safe for concurrent use.
type Questions struct{ kept recent[meant, Vector] }

type meant struct{ model, text string }

func (m meant) size(v Vector) int { return len(m.model) + len(m.text) + len(v) }

// Get returns the vector of a question that was asked before.
func (q *Questions) Get(model, text string) (Vector, bool) {
	m := meant{model, text}
	return q.kept.get(m, m.size, maxQuestions)
}

// Put keeps the vector of a question. The caller must not change it afterwards.
func (q *Questions) Put(model, text string, v Vector) {
	m := meant{model, text}
	q.kept.put(m, v, m.size(v), maxQuestions)
}
