package foreign

// Databases returns the first files of a tree that are SQLite databases, at most most: a file alone by its content, files
// of a folder by their name and their content.
func (t *Tree) Databases(most int) []File {
	var out []File
	for _, f := range t.files {
		if len(out) == most {
			break
		}
		if (t.single || f.Is(".db", ".sqlite", ".sqlite3", ".db3")) && f.IsDatabase() {
			out = append(out, f)
		}
	}
	return out
}
