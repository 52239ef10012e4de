package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber/cmd/amber/internal/window"
	"github.com/amber-memory/amber/internal/capture/project"
)

// Folder is the folder in which the program was started.
type Folder struct {
	project.Grant
	// Trust gives the folder the project that it claims.
	Trust func(ctx context.Context) (project.Grant, error)
}

// folderActions are the keys of a folder whose claim is not confirmed.
func (m *Model) folderActions() []window.Action {
	if m.src.Folder.Asks == "" {
		return nil
	}
	return []window.Action{window.Key("T", "trust folder", "confirm the project that this folder claims, as amber project trust does", m.trustFolder, nil)}
}

// sayFolder says that the folder waits for its user.
func (m *Model) sayFolder() {
	if asks := m.src.Folder.Asks; asks != "" {
		m.Say("this folder claims " + window.OneLine(asks, 60) + " and is not given it; T confirms that")
	}
}

// trustFolder asks before it gives the folder its project.
func (m *Model) trustFolder() tea.Cmd {
	asks := m.src.Folder.Asks
	d := window.Document{}.Text("The folder " + window.OneLine(m.src.Folder.Top, 200) + " claims this project. Anybody can write into an archive or a clone which project it belongs to. " +
		"Agents that work in it will read what the project holds, and what they say there will belong to it.").Blank()
	for _, place := range m.src.Folder.Folders {
		d = d.Text("- has it: " + window.OneLine(place, 200))
	}
	return m.Confirm("Give this folder "+window.OneLine(asks, 100)+"?", d, func() tea.Cmd {
		return window.Known(m.Shell, m.src.Folder.Trust, func(now project.Grant) tea.Cmd {
			m.src.Folder.Grant, m.src.Identities.ProjectID = now, now.ID
			m.Say("this folder has " + window.OneLine(now.ID, 100) + " now")
			return m.Reload(m.Page())
		})
	})
}
