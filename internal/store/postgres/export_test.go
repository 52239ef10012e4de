package postgres

// Statements whose plans are looked at.
const (
	SelectFirstParents = selectFirstParents
	SelectObjects      = selectObjects
)

// Translate returns a statement as PostgreSQL takes it.
func Translate(query string) (string, error) { return dialect.Translate(query) }
