//go:build linux || darwin || freebsd

package rowcache

import "syscall"

// freeBytes returns how many bytes the disk of a folder has free for this user.
func freeBytes(folder string) (bytes int64, known bool) {
	var status syscall.Statfs_t
	if err := syscall.Statfs(folder, &status); err != nil {
		return 0, false
	}
	return int64(status.Bavail) * int64(status.Bsize), true
}
