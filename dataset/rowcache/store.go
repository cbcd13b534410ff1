package rowcache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/atomicfile"
)

const (
	extension = ".rows"
	// defaultLimit is how many bytes a store takes at most, unless the disk is
	// small.
	defaultLimit = 20 << 30
)

// Store is a folder of row caches.
type Store struct {
	Folder string
	// Limit is how many bytes the folder's caches may take; 0 means 20 GB, or half
	// of what they take and the disk has free if that is less.
	Limit int64
}

// path returns the file of a key.
func (s *Store) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.Folder, hex.EncodeToString(sum[:16])+extension)
}

// isLink reports whether the folder is a link, through which nothing is read, written or removed.
func (s *Store) isLink() bool {
	info, err := os.Lstat(s.Folder)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// Open returns the cache of a key, or nil if there is none that is whole.
func (s *Store) Open(key string) *Reader {
	path := s.path(key)
	if s.isLink() {
		return nil
	}
	r, err := open(path)
	if err != nil {
		// what the system refuses to open is not damaged
		if refused := (*fs.PathError)(nil); !errors.As(err, &refused) {
			os.Remove(path)
		}
		return nil
	}
	now := time.Now()
	os.Chtimes(path, now, now) // the order of use; a failure costs an early eviction
	return r
}

// Remove deletes the cache of a key.
func (s *Store) Remove(key string) { os.Remove(s.path(key)) }

// Writer writes a cache. It appears in the store on Commit.
type Writer struct {
	store  *Store
	file   *os.File
	path   string
	width  int
	sparse bool
	limit  int64
	offset int64
	index  []entry
	buffer []byte
}

// Create begins the cache of a key.
func (s *Store) Create(key string, width int, sparse bool) (*Writer, error) {
	if err := os.MkdirAll(s.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("rowcache: the folder cannot be made: %w: name another with --cache", err)
	}
	if s.isLink() {
		return nil, fmt.Errorf("rowcache: %s is a link, which is not followed: remove it, or name another folder with --cache", s.Folder)
	}
	atomicfile.Sweep(s.Folder, "", magic)
	path := s.path(key)
	file, err := atomicfile.Temporary(path, 0o600)
	if err != nil {
		return nil, fmt.Errorf("rowcache: cannot write to %s: %w: name another folder with --cache", s.Folder, err)
	}
	w := &Writer{store: s, file: file, path: path, width: width, sparse: sparse, limit: s.Capacity()}
	if err := w.write([]byte(magic)); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// Capacity returns how many bytes the store may take.
func (s *Store) Capacity() int64 {
	if s.Limit > 0 {
		return s.Limit
	}
	limit := int64(defaultLimit)
	if free, known := freeBytes(s.Folder); known {
		taken := int64(0)
		for _, f := range s.files() {
			taken += f.Bytes
		}
		limit = half(free, taken)
	}
	return limit
}

// half is what a store may take of the bytes that are free on the disk and those that it has already.
func half(free, taken int64) int64 { return min(defaultLimit, (free+taken)/2) }

func (w *Writer) write(data []byte) error {
	if w.offset+int64(len(data)) > w.limit {
		return fmt.Errorf("rowcache: the rows take more than the %d MB that the cache in %s may take: free some disk space, or name another folder with --cache",
			w.limit>>20, w.store.Folder)
	}
	if _, err := w.file.Write(data); err != nil {
		return fmt.Errorf("rowcache: cannot write to %s: %w: free some disk space, or name another folder with --cache", w.store.Folder, err)
	}
	w.offset += int64(len(data))
	return nil
}

// Append adds the rows of a chunk as one block. Sparse values that are all 1
// are left out where the chunk leaves them out.
func (w *Writer) Append(c *credence.Chunk) error {
	if c.Values.Cols != w.width || c.Rows() == 0 || c.Rows() > maxRows {
		return fmt.Errorf("rowcache: a block of %d rows and %d columns in a cache of %d columns: this is a bug of the caller", c.Rows(), c.Values.Cols, w.width)
	}
	w.buffer = encodeRows(w.buffer[:0], c, w.sparse)
	e := entry{offset: w.offset, length: int64(len(w.buffer)), rows: c.Rows(), ones: true, sum: checksum(w.buffer)}
	if w.sparse {
		e.entries, e.ones = len(c.Sparse.Index), c.Sparse.Value == nil
	}
	if err := w.write(w.buffer); err != nil {
		return err
	}
	w.index = append(w.index, e)
	return nil
}

// Commit completes the file with the caller's text, makes room for it in the
// store and opens it. A temporary file is nobody else's: it has no name any more
// where the system allows that, and goes with its reader.
//
// The file is not flushed to the disk: what a power cut leaves of it is found
// out by its checksums.
func (w *Writer) Commit(text []byte, temporary bool) (*Reader, error) {
	t := trailer{footer: w.offset, text: int64(len(text)), blocks: int64(len(w.index)), width: int64(w.width), sparse: w.sparse}
	footer := append([]byte(nil), text...)
	for i := range w.index {
		footer = w.index[i].encode(footer)
	}
	t.footerSum = checksum(footer)
	if err := w.write(append(footer, t.encode()...)); err != nil {
		w.Abort()
		return nil, err
	}
	name := w.file.Name()
	if temporary {
		r, err := NewReader(w.file, w.offset)
		if err != nil {
			w.Abort()
			return nil, err
		}
		r.close = func() error {
			err := w.file.Close()
			os.Remove(name)
			return err
		}
		os.Remove(name) // fails while open on some systems; Close does it then
		return r, nil
	}
	if err := w.file.Close(); err != nil {
		os.Remove(name)
		return nil, fmt.Errorf("rowcache: cannot write to %s: %w: free some disk space", w.store.Folder, err)
	}
	r, err := open(name)
	if err != nil {
		os.Remove(name)
		return nil, err
	}
	if err := os.Rename(name, w.path); err != nil {
		// Some systems do not rename over or below an open file: serve this reader alone.
		r.close = func() error {
			err := r.file.(*os.File).Close()
			os.Remove(name)
			return err
		}
		return r, nil
	}
	w.store.evict(w.limit, filepath.Base(w.path))
	return r, nil
}

// Abort gives the file up.
func (w *Writer) Abort() {
	w.file.Close()
	os.Remove(w.file.Name())
}

// File is a complete cache of the store.
type File struct {
	Name  string
	Bytes int64
	Used  time.Time // for the last time
	Text  []byte    // of its maker, nil where the file is damaged
}

// List returns the complete caches, the one used last first.
func (s *Store) List() []File {
	list := s.files()
	for k := range list {
		if r, err := open(filepath.Join(s.Folder, list[k].Name)); err == nil {
			list[k].Text = r.Text()
			r.Close()
		}
	}
	slices.SortFunc(list, func(a, b File) int { return b.Used.Compare(a.Used) })
	return list
}

// Clean removes all caches, and what crashes left behind, and returns their bytes. Files that a
// process is writing stay, and those that are no caches.
func (s *Store) Clean() (freed int64, err error) {
	if s.isLink() {
		return 0, fmt.Errorf("rowcache: %s is a link, which is not followed", s.Folder)
	}
	freed = atomicfile.Sweep(s.Folder, "", magic)
	var errs []error
	for _, f := range s.files() {
		if err := os.Remove(filepath.Join(s.Folder, f.Name)); err != nil {
			errs = append(errs, err)
			continue
		}
		freed += f.Bytes
	}
	return freed, errors.Join(errs...)
}

// files lists the complete caches: regular files that begin as caches do.
func (s *Store) files() []File {
	entries, err := os.ReadDir(s.Folder)
	if err != nil || s.isLink() {
		return nil
	}
	var files []File
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), extension) || !e.Type().IsRegular() {
			continue
		}
		file, err := atomicfile.OpenRegular(filepath.Join(s.Folder, e.Name()))
		if err != nil {
			continue
		}
		if info, err := file.Stat(); err == nil && info.Size() > 0 && atomicfile.Begins(file, magic) {
			files = append(files, File{Name: e.Name(), Bytes: info.Size(), Used: info.ModTime()})
		}
		file.Close()
	}
	return files
}

// evict deletes the caches used least recently until the rest keeps within the limit. The named file stays.
func (s *Store) evict(limit int64, keep string) {
	files := s.files()
	total := int64(0)
	for _, f := range files {
		total += f.Bytes
	}
	slices.SortFunc(files, func(a, b File) int { return a.Used.Compare(b.Used) })
	for _, f := range files {
		if total <= limit {
			return
		}
		if f.Name != keep && os.Remove(filepath.Join(s.Folder, f.Name)) == nil {
			total -= f.Bytes
		}
	}
}
