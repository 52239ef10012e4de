package image

// For tests, which need a store and so are in another package.
var RedactFile = redactFile
