package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber/internal/capture/project"
)

// Folder is the folder in which the program was started.
type Folder struct {
	project.Grant
	// Trust gives the folder the project that it claims.
	Trust func(ctx context.Context) (project.Grant, error)
}

// folderActions are the keys of a folder whose claim is not confirmed.
func (m *Model) folderActions() []action {
	if m.src.Folder.Asks == "" {
		return nil
	}
	return []action{{"T", "trust folder", "confirm the project that this folder claims, as amber project trust does", m.trustFolder, nil}}
}

// sayFolder says that the folder waits for its user.
func (m *Model) sayFolder() {
	if asks := m.src.Folder.Asks; asks != "" {
		m.say("this folder claims " + oneLine(asks, 60) + " and is not given it; T confirms that")
	}
}

// trustFolder asks before it gives the folder its project.
func (m *Model) trustFolder() tea.Cmd {
	asks := m.src.Folder.Asks
	d := document{}.text("The folder " + oneLine(m.src.Folder.Top, 200) + " claims this project. Anybody can write into an archive or a clone which project it belongs to. " +
		"Agents that work in it will read what the project holds, and what they say there will belong to it.").blank()
	for _, place := range m.src.Folder.Folders {
		d = d.text("- has it: " + oneLine(place, 200))
	}
	return m.confirm("Give this folder "+oneLine(asks, 100)+"?", d, func() tea.Cmd {
		return known(m.shell, m.src.Folder.Trust, func(now project.Grant) tea.Cmd {
			m.src.Folder.Grant, m.src.Identities.ProjectID = now, now.ID
			m.say("this folder has " + oneLine(now.ID, 100) + " now")
			return m.reload(m.page())
		})
	})
}
