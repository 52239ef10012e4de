package fsx

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestInfoNamesProc(t *testing.T) {
	t.Parallel()
	got := must.Get(Info("/proc/self"))(t)
	must.Hold(t, got.Type == "proc" && !got.Network, "got %+v, want type proc", got)
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	tests := []struct {
		magic uint32
		want  FSInfo
	}{
		{unix.EXT4_SUPER_MAGIC, FSInfo{Type: "ext4"}},
		{unix.BTRFS_SUPER_MAGIC, FSInfo{Type: "btrfs"}},
		{unix.FUSE_SUPER_MAGIC, FSInfo{Type: "fuse"}},
		{unix.NFS_SUPER_MAGIC, FSInfo{Type: "nfs", Network: true}},
		{unix.CIFS_SUPER_MAGIC, FSInfo{Type: "cifs", Network: true}},
		{unix.SMB2_SUPER_MAGIC, FSInfo{Type: "smb2", Network: true}},
		{unix.V9FS_MAGIC, FSInfo{Type: "9p", Network: true}},
		{unix.AFS_FS_MAGIC, FSInfo{Type: "afs", Network: true}},
		{0xdeadbeef, FSInfo{Type: "0xdeadbeef"}},
	}
	for _, tt := range tests {
		t.Run(tt.want.Type, func(t *testing.T) {
			t.Parallel()
			must.Equal(t, "", describe(tt.magic), tt.want)
		})
	}
}
