package fsx

import (
	"os"
	"strings"

	"golang.org/x/sys/windows"
)

func statFS(path string) (FSInfo, error) {
	// The calls below accept paths that do not exist.
	if _, err := os.Stat(path); err != nil {
		return FSInfo{}, err
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return FSInfo{}, err
	}
	root := make([]uint16, windows.MAX_LONG_PATH)
	if err := windows.GetVolumePathName(name, &root[0], uint32(len(root))); err != nil {
		return FSInfo{}, err
	}
	var info FSInfo
	// The first number, unlike the other two, honours the quota of the caller.
	if err := windows.GetDiskFreeSpaceEx(&root[0], &info.FreeBytes, nil, nil); err != nil {
		return FSInfo{}, err
	}
	info.Network = windows.GetDriveType(&root[0]) == windows.DRIVE_REMOTE
	fsName := make([]uint16, windows.MAX_PATH+1)
	err = windows.GetVolumeInformation(&root[0], nil, 0, nil, nil, nil, &fsName[0], uint32(len(fsName)))
	if err != nil {
		return FSInfo{}, err
	}
	info.Type = strings.ToLower(windows.UTF16ToString(fsName))
	return info, nil
}
