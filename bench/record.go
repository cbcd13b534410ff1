package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// record is a file of results, one JSON object a line, by which a benchmark of many hours is
// made in parts: what it holds is not measured again.
type record struct {
	path    string
	results map[string]result
}

// openRecord reads the file if there is one. An empty path keeps nothing.
func openRecord(path string) (*record, error) {
	r := &record{path: path, results: map[string]result{}}
	if path == "" {
		return r, nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		var one result
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil || one.TrainRows == 0 {
			return nil, fmt.Errorf("%s:%d: not a result of uci: %v", path, number, err)
		}
		r.results[one.key()] = one
	}
	return r, lines.Err()
}

// key tells results apart that may differ.
func (r *result) key() string {
	return fmt.Sprintf("%s|%s|%s|%d|%d|%v", r.Set, r.Formula, r.Engine, r.Split, r.Seed, r.Validate)
}

// add keeps a result, in the file at once.
func (r *record) add(one result) error {
	if r.path == "" {
		return nil
	}
	r.results[one.key()] = one
	line, err := json.Marshal(one)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(r.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}
