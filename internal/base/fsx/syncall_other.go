//go:build !linux

package fsx

func syncAll(name string) error {
	if err := needDirectory(name); err != nil {
		return err
	}
	return syncTree(name)
}
