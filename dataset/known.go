package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
)

// knownBytes is how much of a file is looked at, at its beginning and before a place, to tell it from another.
const knownBytes = 64 << 10

// known is what a pass has seen of the file it is in, as far as its place is told by it.
type known struct {
	beginning     string // digest of the first knownBytes, once there are so many
	before, block []byte // the end of what was before the present block, and the block
	offset        int64  // at which the block begins
}

func digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// lastOf returns the end of what was read, so much as tells a place.
func lastOf(read []byte) []byte { return read[max(0, len(read)-knownBytes):] }

// begin takes up the next block of the file.
func (k *known) begin(b *text.Block) {
	k.before = append(k.before, b.Before...)
	k.block, k.offset = b.Data[:b.End-b.Offset], b.Offset
	if k.offset < knownBytes && b.End >= knownBytes {
		k.beginning = digest(k.until(knownBytes))
	}
}

// end lets the memory of the block go.
func (k *known) end() {
	last := lastOf(k.block)
	kept := k.before[max(0, len(k.before)+len(last)-knownBytes):]
	k.before = append(append(k.before[:0], kept...), last...)
	k.offset += int64(len(k.block))
	k.block = nil
}

// until is the end of what is before an offset, which is in the present block, where the one before it ended, or 0.
func (k *known) until(offset int64) []byte {
	return lastOf(slices.Concat(k.before, k.block)[:int64(len(k.before))+offset-k.offset])
}

// shortDigest is how much of a digest tells the files of one run apart, of which there are told mostTold.
const shortDigest, mostTold = 16, 1024

// file returns the files that were read to their end, where the one of a place is the last of them.
func (k *known) file(at *credence.Position) string {
	beginning := k.beginning // of a file that is gone on with at its end, too
	if k.offset > 0 && k.offset < knownBytes {
		beginning = digest(k.before)
	}
	if len(at.Read) != shortDigest*at.Files || at.Files >= mostTold || len(beginning) < shortDigest {
		return ""
	}
	return at.Read + beginning[:shortDigest]
}

// mark tells the file of a place by what is before the place, and by nothing else.
func (k *known) mark(at *credence.Position) {
	at.Ending = digest(k.until(at.Offset))
	if at.Beginning = k.beginning; at.Offset < knownBytes {
		at.Beginning = at.Ending
	}
}

// begins says whether a file begins as the one that a place is in, as far as that can be said before it is read.
func (t *Table) begins(ctx context.Context, in *input, start *credence.Position) bool {
	if t.format == formatParquet {
		at := credence.Position{Offset: start.Offset}
		return in.markGroups(&at) == nil && at.Beginning == start.Beginning && at.Ending == start.Ending
	}
	if in.content == nil && in.path == "" { // a pipe
		return true
	}
	head, err := t.head(ctx, in, min(start.Offset, knownBytes))
	return err == nil && digest(head) == start.Beginning
}

// head returns the first bytes of a file, n or all that it has; none of a pipe.
func (t *Table) head(ctx context.Context, in *input, n int64) (head []byte, err error) {
	var raw io.Reader
	closer := func() {}
	switch {
	case in.content != nil:
		raw = in.content.reader()
	case in.path == "":
		return nil, nil
	default:
		if raw, closer, err = t.raw(in); err != nil {
			return nil, err
		}
	}
	s := newStream(closer)
	defer s.close()
	if err = s.decode(ctx, in, raw); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(s, n))
}

// inOrder refuses files in another order than that in which they were read: before the one where reading goes on, file
// i, are such that were read before, and none of these is behind it.
func (t *Table) inOrder(ctx context.Context, start *credence.Position, i int) error {
	if t.format == formatParquet || len(start.Read) != shortDigest*start.Files {
		return nil // they cannot be told
	}
	told := map[string]bool{}
	for at := 0; at < len(start.Read); at += shortDigest {
		told[start.Read[at:at+shortDigest]] = true
	}
	for k, in := range t.inputs {
		head, err := t.head(ctx, in, knownBytes)
		if k == i || err != nil || len(head) == 0 {
			continue
		}
		const remedy = "name the files in the order in which they were read, and new ones behind them"
		switch read := told[digest(head)[:shortDigest]]; {
		case read && k > i:
			return fmt.Errorf("%s: was read before %s, where reading goes on, and would be read again: %s", in.name, t.inputs[i].name, remedy)
		case !read && k < i:
			return fmt.Errorf("%s: was not read, and stands before %s, where reading goes on: %s", in.name, t.inputs[i].name, remedy)
		}
	}
	return nil
}

// resume returns the number of the file in which a place is, and refuses one that is in none of the files.
func (t *Table) resume(ctx context.Context, start *credence.Position) (first int, err error) {
	if start.Beginning == "" {
		start.Files = min(start.Files, len(t.inputs)-1)
		return start.Files, nil
	}
	if start.Files < len(t.inputs) && t.begins(ctx, t.inputs[start.Files], start) {
		return start.Files, nil
	}
	for i, in := range t.inputs { // files that were read to their end may be gone
		if in.pipe == nil && t.begins(ctx, in, start) {
			err := t.inOrder(ctx, start, i)
			start.Files, start.Read = i, start.Read[:min(shortDigest*i, len(start.Read))]
			return i, err
		}
	}
	const remedy = "name the same files in the same order, or begin anew; to learn other files on top of what is known, start from the model with --from"
	if start.Files < len(t.inputs) {
		return 0, fmt.Errorf("%s: begins otherwise than the file that was read in its place: %s", t.inputs[start.Files].name, remedy)
	}
	return 0, fmt.Errorf("%s: the file that was being read, number %d, is not among the files now: %s", t.inputs[0].name, start.Files+1, remedy)
}

// resume goes to a place of decoded content, and returns the end of what is before it. Content that is not what was
// read before the place is refused.
func (s *stream) resume(name string, start *credence.Position) ([]byte, error) {
	if start.Offset == 0 {
		return nil, nil
	}
	var before bytes.Buffer
	if err := s.copy(name, &before, 0, min(start.Offset, knownBytes), start.Offset); err != nil {
		return nil, err
	}
	beginning, at := digest(before.Bytes()), int64(before.Len())
	if to := start.Offset - knownBytes; to > at {
		if err := s.skip(name, at, to, start.Offset); err != nil {
			return nil, err
		}
		at = to
	}
	if err := s.copy(name, &before, at, start.Offset, start.Offset); err != nil {
		return nil, err
	}
	last := lastOf(before.Bytes())
	if start.Beginning != "" && (beginning != start.Beginning || digest(last) != start.Ending) {
		return nil, fmt.Errorf("%s: differs before line %d from what was read: rows may change behind that line alone; restore those before it, or begin anew", name, start.Line+1)
	}
	return last, nil
}

// skip goes from one offset to another, by seeking where that is possible.
func (s *stream) skip(name string, from, to, read int64) error {
	// the encoding shows in what was read to know the file
	if s.file != nil && !s.compressed && !s.wide && !s.latin.Load() {
		if info, err := s.file.Stat(); err == nil && info.Size() >= read+s.mark {
			if _, err := s.file.Seek(to+s.mark, io.SeekStart); err == nil {
				s.Reader = s.plain
				return nil
			}
		}
	}
	return s.copy(name, io.Discard, from, to, read)
}

// copy copies what is between two offsets of content of which so much was read before.
func (s *stream) copy(name string, dst io.Writer, from, to, read int64) error {
	for from < to {
		n, err := io.CopyN(dst, s, to-from)
		from += n
		switch {
		case err == nil || errors.Is(err, text.ErrIdle):
		case errors.Is(err, io.EOF):
			return fmt.Errorf("%s: has %d bytes, fewer than the %d that were read before: go on with the same data", name, from, read)
		default:
			return fmt.Errorf("%s: reading stopped: %w", name, err)
		}
	}
	return nil
}

// markGroups tells a Parquet file by what is before the end of the row group in which a row is.
func (in *input) markGroups(at *credence.Position) error {
	end, rows := int64(0), int64(0)
	for group := 0; rows < at.Offset; group++ {
		if group == len(in.groups) {
			return fmt.Errorf("%s: has %d rows, fewer than the %d that were read before: go on with the same data", in.name, rows, at.Offset)
		}
		rows, end = rows+int64(in.groups[group]), in.ends[group]
	}
	var content io.ReaderAt = in.content
	if in.content == nil {
		file, err := os.Open(in.path)
		if err != nil {
			return fmt.Errorf("%s: cannot be read: %w", in.name, err)
		}
		defer file.Close()
		content = file
	}
	part := make([]byte, min(end, knownBytes))
	for _, p := range []struct {
		told *string
		at   int64
	}{{&at.Beginning, 0}, {&at.Ending, end - int64(len(part))}} {
		if _, err := content.ReadAt(part, p.at); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: cannot be read: %w", in.name, err)
		}
		*p.told = digest(part)
	}
	return nil
}
