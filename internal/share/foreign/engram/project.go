package engram

import "strings"

// Project is the project that a folder of Engram belongs to, as Amber calls it. Engram calls a project by the last element of its
// remote alone, in small letters: shop is github.com/acme/shop there. "" is a folder that belongs to no project.
type Project string

// Name returns how Engram calls the project.
func (p Project) Name() string {
	name := string(p)
	return strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
}

// Of returns Amber's name of the project of a row. Only Engram's name of the folder's project is replaced; any other
// name stays as it is.
func (p Project) Of(name string) string {
	if p != "" && name != "" && strings.EqualFold(name, p.Name()) {
		return string(p)
	}
	return name
}

// Called returns how Engram calls the project of a row that is written anew: the project of the folder by its name there, and any
// other one as Amber does.
func (p Project) Called(project string) string {
	if p != "" && project == string(p) {
		return p.Name()
	}
	return project
}

// callerOf returns the project for which a row of Amber's has the name it has. Rows that earlier versions wrote have Amber's own.
func callerOf(called *string, project string) Project {
	if deref(called) == project {
		return ""
	}
	return Project(project)
}
