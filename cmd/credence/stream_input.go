package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/dataset/stream"
)

// streamPaths expands globs; "-" stays.
func streamPaths(arguments []string) ([]string, error) {
	var paths []string
	for _, path := range arguments {
		switch info, err := os.Stat(path); {
		case path == "-":
			paths = append(paths, path)
			continue
		case err == nil && info.IsDir():
			return nil, fmt.Errorf("%s: is a folder: name its files, such as %s", path, filepath.Join(path, "*.csv"))
		case err == nil:
			paths = append(paths, path)
			continue
		case !strings.ContainsAny(path, "*?[") && errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s: there is no such file: check the path", path)
		case !strings.ContainsAny(path, "*?["):
			return nil, err
		}
		matches, err := filepath.Glob(path)
		if err != nil || len(matches) == 0 {
			return nil, fmt.Errorf("%s matches no file: check the pattern and the folder", path)
		}
		paths = append(paths, matches...)
	}
	if slices.Contains(paths, "-") && len(paths) > 1 {
		return nil, misused(fmt.Errorf("standard input is read alone: leave the other files out"))
	}
	return paths, dataset.RefuseTwice(paths)
}

// sniffed is how much of the data is looked at to find its format.
const sniffed = 64 << 10

// streamFormat finds the format of the first file: as stated, by extension, by
// content. The reader returned replaces standard input, of which a part may
// have been taken. What is no text is refused, as far as it can be looked at without
// taking it from a pipe.
func streamFormat(stated, path string, stdin io.Reader) (stream.Format, io.Reader, error) {
	format := namedFormat(stated, path)
	var head []byte
	if path == "-" {
		if format != "" {
			return format, stdin, nil
		}
		buffered := bufio.NewReaderSize(stdin, sniffed)
		peeked, err := buffered.Peek(sniffed)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", stdin, err
		}
		head, stdin = peeked, buffered
	} else {
		file, err := os.Open(path)
		if err != nil {
			return "", stdin, err
		}
		defer file.Close()
		if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
			if format != "" {
				return format, stdin, err
			}
			return "", stdin, misused(fmt.Errorf("the format of %s cannot be found out without reading it: state --format", path))
		}
		head = make([]byte, sniffed)
		n, err := io.ReadFull(file, head)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return "", stdin, err
		}
		head = head[:n]
	}
	head = plainHead(head)
	switch {
	case bytes.HasPrefix(head, []byte("PAR1")):
		return "", stdin, fmt.Errorf("%s: is Parquet, and stream reads text: use fit, or write the rows as CSV", inputName(path))
	case bytes.IndexByte(head, 0) >= 0:
		return "", stdin, fmt.Errorf("%s: holds a NUL byte, so it is not text: is it another format, or damaged?", inputName(path))
	case format == "":
		format = formatOf(head)
	}
	return format, stdin, nil
}

// inputName is a path for messages.
func inputName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// namedFormat is the format that is stated, or that the extension names, or "".
func namedFormat(stated, path string) stream.Format {
	if stated == "svm" {
		return stream.FormatLibSVM
	}
	if stated != "" {
		return stream.Format(stated)
	}
	name := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(path), ".gz"), ".zst")
	switch filepath.Ext(name) {
	case ".svm", ".libsvm":
		return stream.FormatLibSVM
	case ".vw":
		return stream.FormatVW
	case ".csv":
		return stream.FormatCSV
	case ".tsv":
		return stream.FormatTSV
	}
	return ""
}

// plainHead returns the first of the text of which head is the beginning, which may
// be compressed.
func plainHead(head []byte) []byte {
	var text io.Reader
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		if r, err := gzip.NewReader(bytes.NewReader(head)); err == nil {
			text = r
		}
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		if r, err := zstd.NewReader(bytes.NewReader(head), zstd.WithDecoderConcurrency(1)); err == nil {
			defer r.Close()
			text = r
		}
	}
	if text == nil {
		return head
	}
	first := make([]byte, sniffed)
	n, _ := io.ReadFull(text, first) // the end is cut off
	return first[:n]
}

// formatOf tells the format from the first line.
func formatOf(head []byte) stream.Format {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	fields := bytes.Fields(line)
	switch {
	case bytes.Contains(line, []byte("|")) && !bytes.ContainsAny(line, ",\t"):
		return stream.FormatVW
	case len(fields) > 1 && !bytes.ContainsAny(line, ",\t") && isIndexed(fields[1]):
		return stream.FormatLibSVM
	case bytes.Contains(line, []byte("\t")):
		return stream.FormatTSV
	}
	return stream.FormatCSV
}

// isIndexed says whether a word is digits and a colon.
func isIndexed(word []byte) bool {
	index, _, found := bytes.Cut(word, []byte(":"))
	return found && len(index) > 0 && len(bytes.Trim(index, "0123456789")) == 0
}

// infer finds which columns of a table are numbers, where the formula leaves it open, and
// which of two classes is positive.
func (s *streamRun) infer(ctx context.Context) error {
	stated := len(s.categories) + len(s.numbers)
	if !isTable(s.plan.Format) {
		if stated > 0 {
			return misused(fmt.Errorf("--types are of the columns of a table, and %s text has none: leave them out", s.plan.Format))
		}
		return nil
	}
	open := s.plan.All && !s.plan.Tokens
	for _, t := range s.plan.Terms {
		open = open || !t.Tokens && len(t.Transforms) == 0
	}
	if !open && s.plan.Positive != "" && stated == 0 {
		return nil
	}
	sample, err := stream.ReadSample(ctx, s.paths, s.stdin, s.plan.Format, s.plan.Target, open)
	if err != nil {
		return err
	}
	if sample.Replay != nil {
		s.stdin = sample.Replay
	}
	for _, types := range []map[string]bool{s.categories, s.numbers} {
		for _, name := range slices.Sorted(maps.Keys(types)) {
			if len(sample.Columns) > 0 && !slices.Contains(sample.Columns, name) {
				return fmt.Errorf("--types names column %q, which %s does not have", name, inputName(s.paths[0]))
			}
		}
	}
	if s.plan.Positive == "" && sample.Positive != "" {
		s.plan.Negative, s.plan.Positive = sample.Negative, sample.Positive
		s.program.say("target  %s: the positive class is %s, the other %s; choose by --positive", s.plan.Target, s.plan.Positive, s.plan.Negative)
	}
	if open {
		s.setNumbers(sample)
	}
	return nil
}

// setNumbers takes columns as numbers: those that are said to be, or whose values in the sample are.
func (s *streamRun) setNumbers(sample *stream.Sample) {
	for _, name := range sample.Columns {
		if !s.categories[name] && (s.numbers[name] || slices.Contains(sample.Numbers, name)) && name != s.plan.Target {
			s.plan.Numbers = append(s.plan.Numbers, name)
		}
	}
	taken := slices.DeleteFunc(slices.Clone(s.plan.Numbers), func(name string) bool { return !s.typed(name) })
	if len(taken) > 0 {
		s.program.say("numbers %s (other columns are categories; override with --types, or take all as tokens by hash(.))", strings.Join(taken, ", "))
	}
	for _, m := range sample.Mixed {
		if s.typed(m.Column) && !s.categories[m.Column] && !s.numbers[m.Column] {
			s.program.warn("column %q holds numbers but for %d of the first %d rows, such as %q: it is taken as a category; --types %s=number takes it as a number, and such rows as malformed",
				m.Column, m.Words, m.Values, m.Word, m.Column)
		}
	}
}

// typed says whether the type of a column matters: it is taken, and not as tokens.
func (s *streamRun) typed(column string) bool {
	named := false
	for _, t := range s.plan.Terms {
		if slices.Contains(t.Columns, column) {
			if !t.Tokens {
				return true
			}
			named = true
		}
	}
	return !named && s.plan.All && !s.plan.Tokens && column != s.plan.Target && !slices.Contains(s.plan.Except, column)
}
