// Package op declares what Amber can do, once.
//
// An operation is one value: its name, its route, what a caller needs, what is true of every call of it, and the function that does it.
// The doors of a server are loops over [All]: HTTP with its OpenAPI document, the client for Go, the names of the audit log and of the
// metrics. The fields of an input say in tags where they come from:
//
//	path:"id"          the variable of the path
//	query:"limit"      the parameter of the query; slices may be repeated
//	header:"If-Match"  the header
//	body:"json"        the whole body
//	body:"raw"         nothing: the body is a file, which the operation gets as [Call.File]; a client sends an [Upload]
//
// and in doc:"..." what they mean.
package op
