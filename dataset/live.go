package dataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// liveInput is standard input read once. What the sample reads is recorded and
// put in front of the one pass that follows.
type liveInput struct {
	raw    io.Reader
	opened *stream
	head   bytes.Buffer // decoded content that has been read so far
	spent  bool
}

// stream returns the content from its beginning. Only the final time is it not
// remembered, and there is one final time.
func (l *liveInput) stream(final bool) (*stream, error) {
	if l.spent {
		return nil, errors.New("standard input: was read already and is not kept: read it without the live option")
	}
	s := &stream{count: l.opened.count}
	if final {
		l.spent = true
		s.Reader = bufio.NewReaderSize(io.MultiReader(&l.head, l.opened), 64<<10)
		return s, nil
	}
	head := bytes.NewReader(bytes.Clone(l.head.Bytes()))
	s.Reader = bufio.NewReaderSize(io.MultiReader(head, io.TeeReader(l.opened, &l.head)), 64<<10)
	return s, nil
}

// staleSpool is the age at which a spool is taken for one that a crash left.
const staleSpool = 7 * 24 * time.Hour

// removeStale deletes the spools that crashes left behind.
func removeStale(folder string) {
	spools, _ := filepath.Glob(filepath.Join(folder, "spool-*"))
	for _, path := range spools {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > staleSpool {
			os.Remove(path)
		}
	}
}

// spool copies a stream to a new file in the cache folder, so that it can be
// read again and at any place.
func spool(ctx context.Context, folder string, from io.Reader) (path string, size int64, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", 0, fmt.Errorf("dataset: the cache folder cannot be made: %w: name another with --cache", err)
	}
	removeStale(folder)
	var file *os.File
	for attempt := 0; ; attempt++ {
		path = filepath.Join(folder, "spool-"+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(attempt))
		file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrExist) || attempt > 10_000 {
			return "", 0, fmt.Errorf("dataset: cannot spool to the cache folder: %w: name another with --cache", err)
		}
	}
	buffer := make([]byte, 256<<10)
	for {
		n, readErr := from.Read(buffer)
		if err = ctx.Err(); err == nil && n > 0 {
			_, err = file.Write(buffer[:n])
			size += int64(n)
		}
		if err == nil && readErr != nil && readErr != io.EOF {
			err = readErr
		}
		if err != nil {
			file.Close()
			os.Remove(path)
			if ctx.Err() != nil {
				return "", 0, err
			}
			return "", 0, fmt.Errorf("dataset: spooling to %s: %w", folder, err)
		}
		if readErr == io.EOF {
			break
		}
	}
	if err := file.Close(); err != nil {
		os.Remove(path)
		return "", 0, fmt.Errorf("dataset: spooling to %s: %w", folder, err)
	}
	return path, size, nil
}

// cacheFolder returns where spools and row caches live.
func (o *Options) cacheFolder() (string, error) {
	if o.CacheDir != "" {
		return o.CacheDir, nil
	}
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("dataset: there is no cache folder: %w: name one with --cache", err)
	}
	return filepath.Join(folder, "credence"), nil
}
