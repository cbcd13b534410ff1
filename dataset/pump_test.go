package dataset

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/task"
)

// faulty panics behind what it has read.
type faulty struct{ io.Reader }

func (f faulty) Read(dst []byte) (int, error) {
	n, err := f.Reader.Read(dst)
	if err == io.EOF {
		panic("no such text")
	}
	return n, err
}

// A reader of the caller that panics, or cannot be opened, ends reading with an error behind all that came before.
func TestPumpReturnsPanics(t *testing.T) {
	const text = "a,b\n1,2\n"
	p := newPump(context.Background(), func() (io.Reader, func(), error) { return faulty{strings.NewReader(text)}, func() {}, nil })
	read, err := io.ReadAll(p)
	if fault := (*task.Panic)(nil); string(read) != text || !errors.As(err, &fault) || fault.Value != "no such text" {
		t.Errorf("read %q, %v", read, err)
	}
	closed := errors.New("closed")
	p = newPump(context.Background(), func() (io.Reader, func(), error) { return nil, nil, closed })
	if _, err := p.Read(make([]byte, 8)); err != closed {
		t.Errorf("a reader that does not open reads with %v", err)
	}
}
