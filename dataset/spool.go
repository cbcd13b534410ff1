package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/credence-ml/credence/dataset/rowcache"
	"github.com/credence-ml/credence/dataset/text"
)

// spool is content that is kept to be read again and at any place: in memory, or,
// when it is long, in a file of the cache folder.
type spool struct {
	memory []byte
	file   *os.File // nil while the content is in memory
	size   int64
	shared bool // other tables read it, too
}

// Kept is the content of standard input and of named pipes, kept for several tables that read the
// same. The zero value keeps nothing yet.
type Kept struct{ spools map[string]*spool }

// Close frees what is kept, when the tables are closed.
func (k *Kept) Close() error {
	var errs []error
	for _, s := range k.spools {
		s.shared = false
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// keep makes an input that is kept readable.
func (t *Table) keep(ctx context.Context, in *input) error {
	kept := t.options.Kept
	if s := kept.spools[in.original]; s != nil {
		in.content, in.size = s, s.size
		return nil
	}
	if err := t.spoolRaw(ctx, in); err != nil {
		return err
	}
	if kept.spools == nil {
		kept.spools = map[string]*spool{}
	}
	in.content.shared, kept.spools[in.original] = true, in.content
	return nil
}

// spoolRaw keeps what an input stores.
func (t *Table) spoolRaw(ctx context.Context, in *input) (err error) {
	raw := newPump(ctx, func() (io.Reader, func(), error) { return t.raw(in) })
	if in.content, err = t.spool(ctx, in.name, raw, func(head []byte) error { return t.checkHead(ctx, in, head) }); err == nil {
		in.size = in.content.size
	}
	return err
}

// ReadAt reads at any place.
func (s *spool) ReadAt(dst []byte, offset int64) (int, error) {
	if s.file != nil {
		return s.file.ReadAt(dst, offset)
	}
	return bytes.NewReader(s.memory).ReadAt(dst, offset)
}

// reader returns the content from its beginning.
func (s *spool) reader() io.Reader { return io.NewSectionReader(s, 0, s.size) }

// close frees the content. Its file has no name any more where the system allows that.
func (s *spool) close() error {
	if s.file == nil || s.shared {
		return nil
	}
	err := s.file.Close()
	if gone := os.Remove(s.file.Name()); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// spool keeps what is read of an input, of which check may refuse the beginning.
func (t *Table) spool(ctx context.Context, name string, from io.Reader, check func(head []byte) error) (_ *spool, err error) {
	s := &spool{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	limit := int64(0)
	buffer := make([]byte, 256<<10)
	for {
		n, readErr := io.ReadFull(from, buffer)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ended := readErr == io.EOF || readErr == io.ErrUnexpectedEOF
		if readErr != nil && !ended && !errors.Is(readErr, text.ErrIdle) {
			return nil, fmt.Errorf("%s: reading stopped: %w", name, readErr)
		}
		if s.size == 0 && check != nil {
			if err := check(buffer[:n]); err != nil {
				return nil, err
			}
		}
		if s.file == nil && s.size+int64(n) > t.options.memoryLimit() {
			if s.file, limit, err = t.spoolFile(); err != nil {
				return nil, err
			}
			if _, err := s.file.Write(s.memory); err != nil {
				return nil, fmt.Errorf("dataset: spooling to %s: %w", filepath.Dir(s.file.Name()), err)
			}
			s.memory = nil
		}
		s.size += int64(n)
		switch {
		case s.file == nil:
			s.memory = append(s.memory, buffer[:n]...)
		case s.size > limit:
			return nil, fmt.Errorf("%s: is longer than the %d MB that the cache may take: write it to a file, free some disk space, or name another folder with --cache", name, limit>>20)
		default:
			if _, err := s.file.Write(buffer[:n]); err != nil {
				return nil, fmt.Errorf("dataset: spooling to %s: %w", filepath.Dir(s.file.Name()), err)
			}
		}
		if ended {
			return s, nil
		}
	}
}

// spoolFile makes a file in the cache folder, and returns how long it may become.
func (t *Table) spoolFile() (*os.File, int64, error) {
	folder, err := t.options.cacheFolder()
	if err != nil {
		return nil, 0, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, 0, fmt.Errorf("dataset: the cache folder cannot be made: %w: name another with --cache", err)
	}
	file, err := os.CreateTemp(folder, "spool-*")
	if err != nil {
		return nil, 0, fmt.Errorf("dataset: cannot spool to the cache folder: %w: name another with --cache", err)
	}
	os.Remove(file.Name()) // fails while open on some systems; close does it then
	store := rowcache.Store{Folder: folder, Limit: t.options.CacheLimit}
	return file, store.Capacity(), nil
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
