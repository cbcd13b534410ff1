package dataset

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/credence-ml/credence/dataset/rowcache"
)

// Cached is what the row cache keeps of one table.
type Cached struct {
	Name  string    `json:"name"`  // of the file in the folder
	Files []string  `json:"files"` // that were read; none where the cache is damaged
	Bytes int64     `json:"bytes"`
	Used  time.Time `json:"used"` // for the last time
}

// CacheFolder returns the folder of the row cache, that of the options or the user's own.
func (o *Options) CacheFolder() (string, error) {
	folder, err := o.cacheFolder()
	return filepath.Join(folder, "rows"), err
}

// ListCache tells what the row cache in a folder keeps, the table used last first.
func ListCache(folder string) []Cached {
	var list []Cached
	for _, f := range (&rowcache.Store{Folder: folder}).List() {
		c := Cached{Name: f.Name, Bytes: f.Bytes, Used: f.Used, Files: []string{}}
		var text cacheText
		var key cacheKey
		if json.Unmarshal(f.Text, &text) == nil && json.Unmarshal([]byte(text.Key), &key) == nil {
			for _, file := range key.Files {
				c.Files = append(c.Files, file.Path)
			}
		}
		list = append(list, c)
	}
	return list
}

// CleanCache removes what the row cache in a folder keeps and what crashes left there, and returns the
// bytes that are free now. Tables that are being read go on.
func CleanCache(folder string) (freed int64, err error) {
	return (&rowcache.Store{Folder: folder}).Clean()
}
