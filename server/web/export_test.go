package web

// What tests ask directly: what is drawn of a text of a stranger.
var (
	Markdown = markdown
	Marked   = marked
	Row      = row
	MaxDrawn = maxDrawn
)
