// Package policy decides what is recalled and kept without being asked.
package policy
