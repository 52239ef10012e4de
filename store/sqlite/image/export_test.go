package image

// For tests, which need a store and so are in another package.
const SelectLeaves = selectLeaves

var (
	EachTerm   = eachTerm
	RedactFile = redactFile
)
