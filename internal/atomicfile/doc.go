// Package atomicfile replaces a file as a whole or not at all.
//
// Write sends the new content to a temporary file in the folder of the target,
// flushes it to the disk (fsync), renames it over the target and flushes the
// folder. POSIX rename is atomic, so a reader, and whoever comes back after a
// crash, sees the old file or the new one, never a mixture and never nothing.
//
// Cost: the content is written once; two fsyncs. Disk space for both versions
// is needed while the new one is being written.
//
// Limits. Only regular files are replaced: a device, a pipe or a folder is
// refused, because rename would put a file in its place. The new file belongs
// to the writing user; other hard links of the old file keep the old content;
// as with every rename, the permission that counts is the folder's. A process
// that is killed leaves its temporary file, named .NAME.tmp-PID-N, which may be
// deleted. Two writers of one path do not mix: the last rename wins. On systems
// other than Unix the folder cannot be flushed, so a power cut may bring the
// old file back; it is still whole.
package atomicfile
