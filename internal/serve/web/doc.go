// Package web is the page of a server: what agents know, and why, for people with a browser.
//
// Every screen is a URL that works without JavaScript. A screen asks the API of the same process with the token of
// the visitor, over a handler instead of a network: scopes, limits, the audit log and the words of errors are those
// of the API, and the page has no other way to a store.
//
// Everything shown was written by agents or strangers. It is escaped, its control and direction characters are
// shown as marks, and a policy in every answer forbids the browser to run or fetch anything but the files of the
// page.
package web
