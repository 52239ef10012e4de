package fsx

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Magic numbers that are not in the kernel's magic.h; each from the source of its file system.
const (
	beegfsMagic = 0x19830326
	gfs2Magic   = 0x01161970
	gpfsMagic   = 0x47504653
	lustreMagic = 0x0bd00bd0
	ntfs3Magic  = 0x7366746e
	vboxsfMagic = 0x786f4256
	zfsMagic    = 0x2fc12fc1
)

func statFS(path string) (FSInfo, error) {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(path, &st)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return FSInfo{}, err
		}
	}
	// The field types differ between architectures, hence the conversions; the magic number may be sign-extended.
	info := describe(uint32(st.Type))
	unit := uint64(st.Frsize)
	if unit == 0 {
		unit = uint64(st.Bsize)
	}
	info.FreeBytes = st.Bavail * unit
	return info, nil
}

// describe names the file system with the given magic number. ext2, ext3 and ext4 share one.
func describe(magic uint32) FSInfo {
	if name := networkNames[magic]; name != "" {
		return FSInfo{Type: name, Network: true}
	}
	if name := localNames[magic]; name != "" {
		return FSInfo{Type: name}
	}
	return FSInfo{Type: fmt.Sprintf("0x%x", magic)}
}

// networkNames are the file systems that lie on other machines.
var networkNames = map[uint32]string{
	unix.NFS_SUPER_MAGIC:   "nfs",
	unix.SMB_SUPER_MAGIC:   "smb",
	unix.CIFS_SUPER_MAGIC:  "cifs",
	unix.SMB2_SUPER_MAGIC:  "smb2",
	unix.V9FS_MAGIC:        "9p",
	unix.AFS_SUPER_MAGIC:   "afs",
	unix.AFS_FS_MAGIC:      "afs",
	unix.CEPH_SUPER_MAGIC:  "ceph",
	unix.CODA_SUPER_MAGIC:  "coda",
	unix.NCP_SUPER_MAGIC:   "ncp",
	unix.OCFS2_SUPER_MAGIC: "ocfs2",
	gfs2Magic:              "gfs2",
	gpfsMagic:              "gpfs",
	lustreMagic:            "lustre",
	beegfsMagic:            "beegfs",
	vboxsfMagic:            "vboxsf",
}

// localNames are the others.
var localNames = map[uint32]string{
	unix.EXT4_SUPER_MAGIC:      "ext4",
	unix.XFS_SUPER_MAGIC:       "xfs",
	unix.BTRFS_SUPER_MAGIC:     "btrfs",
	unix.BCACHEFS_SUPER_MAGIC:  "bcachefs",
	zfsMagic:                   "zfs",
	unix.F2FS_SUPER_MAGIC:      "f2fs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlayfs",
	unix.TMPFS_MAGIC:           "tmpfs",
	unix.RAMFS_MAGIC:           "ramfs",
	unix.FUSE_SUPER_MAGIC:      "fuse",
	unix.ECRYPTFS_SUPER_MAGIC:  "ecryptfs",
	unix.EXFAT_SUPER_MAGIC:     "exfat",
	unix.MSDOS_SUPER_MAGIC:     "vfat",
	ntfs3Magic:                 "ntfs",
	unix.REISERFS_SUPER_MAGIC:  "reiserfs",
	unix.NILFS_SUPER_MAGIC:     "nilfs2",
	unix.SQUASHFS_MAGIC:        "squashfs",
	unix.EROFS_SUPER_MAGIC_V1:  "erofs",
	unix.ISOFS_SUPER_MAGIC:     "iso9660",
	unix.PROC_SUPER_MAGIC:      "proc",
	unix.SYSFS_MAGIC:           "sysfs",
}
