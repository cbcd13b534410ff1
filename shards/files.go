package shards

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/order"
)

// File is a file of a job. Another of the same size and beginning is taken for the same.
type File struct {
	Path      string `json:"path"`
	Size      int64  `json:"size"`
	Beginning string `json:"beginning"` // SHA-256 of the first 64 KB
}

// beginning is how much of a file is digested.
const beginning = 64 << 10

// Files returns the files of the job.
func (j *Job) Files() []File { return slices.Clone(j.state.Files) }

// ParseFiles reads which of n files are meant: "3", "0-7", "2/64" for each 64th from file 2 on, or several with commas
// between.
func ParseFiles(text string, n int) (files []int, err error) {
	refuse := func() ([]int, error) {
		return nil, &fit.Misuse{Err: fmt.Errorf("%q names no files of a job that has %d, counted from 0: write 3, 0-7, or 2/64 for each 64th from file 2 on", text, n)}
	}
	for _, item := range strings.Split(text, ",") {
		from, to, step := item, item, 1
		if first, last, found := strings.Cut(item, "-"); found {
			from, to = first, last
		}
		if first, every, found := strings.Cut(item, "/"); found {
			from, to = first, strconv.Itoa(n-1)
			if step, err = strconv.Atoi(every); err != nil || step < 1 {
				return refuse()
			}
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || first < 0 || last >= n || first > last && step == 1 || step > 1 && first >= step {
			return refuse()
		}
		for k := first; k <= last; k += step {
			files = append(files, k)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// Ranges writes ascending numbers as [ParseFiles] reads them.
func Ranges(files []int) string {
	var items []string
	for from, to := range order.Runs(len(files), func(first, other int) bool { return files[other]-files[first] == other-first }) {
		item := strconv.Itoa(files[from])
		if to > from+1 {
			item += "-" + strconv.Itoa(files[to-1])
		}
		items = append(items, item)
	}
	return strings.Join(items, ",")
}

// fileOf describes the file at a path.
func fileOf(path string) (File, error) {
	failed := func(err error) (File, error) { return File{}, fmt.Errorf("%s: cannot be read: %w", path, err) }
	info, err := os.Stat(path) // before it is opened, which waits for a pipe's writer
	if err != nil {
		return failed(err)
	}
	if !info.Mode().IsRegular() {
		what := "a pipe"
		if info.IsDir() {
			what = "a folder"
		}
		return File{}, fmt.Errorf("%s: is %s, and each round reads a file anew: give files", path, what)
	}
	file, err := os.Open(path)
	if err != nil {
		return failed(err)
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(file, beginning)); err != nil {
		return failed(err)
	}
	return File{path, info.Size(), hex.EncodeToString(hash.Sum(nil))}, nil
}

// Path returns where file k is looked for, by [Job].Folder.
func (j *Job) Path(k int) string {
	path := j.state.Files[k].Path
	if j.Folder != "" {
		return filepath.Join(j.Folder, filepath.Base(path))
	}
	return path
}

// find returns where file k is, and refuses another than the job's.
func (j *Job) find(k int) (string, error) {
	want := j.state.Files[k]
	want.Path = j.Path(k)
	got, err := fileOf(want.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: there is no such file: name the folder that has the job's files here by --data", want.Path)
	case err != nil:
		return "", err
	case got.Size != want.Size:
		return "", fmt.Errorf("%s: has %d bytes, and had %d when the job was made: it has changed; make the job anew", want.Path, got.Size, want.Size)
	case got.Beginning != want.Beginning:
		return "", fmt.Errorf("%s: begins otherwise than when the job was made: it has changed, or is another file; make the job anew", want.Path)
	}
	return want.Path, nil
}

// open opens file k, of which columns are those of training where trained says so.
func (j *Job) open(ctx context.Context, k int, trained *credence.Schema) (*dataset.Table, error) {
	path, err := j.find(k)
	if err != nil {
		return nil, err
	}
	r, online := &j.state.Reading, j.state.Online
	stated := r.Schema
	if stated.Label || stated.Sparse > 0 { // rows say what features they have
		stated = nil
	}
	return dataset.Open(ctx, []string{path}, dataset.Options{
		Format: r.Format, Encoding: r.Encoding, Delimiter: r.Delimiter, Decimal: r.Decimal, MissingTokens: r.Missing, MaxLevels: r.MaxLevels, Stated: stated, Schema: trained,
		KindsKnown: true, Keyed: online, Once: online, Threads: j.Threads, CacheDir: j.Cache.CacheDir, CacheLimit: j.Cache.CacheLimit, MemoryLimit: j.Cache.MemoryLimit,
	})
}
