package repo

// SetPackBytes makes packs smaller, so that tests need fewer bytes.
func (r *Repo) SetPackBytes(n int64) { r.packBytes = n }
