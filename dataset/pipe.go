package dataset

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/credence-ml/credence/dataset/text"
)

const (
	// sampleTime is how long the sample of a pipe waits for rows behind its first.
	sampleTime = time.Second
	// sampleLimit bounds the bytes that the sample of a pipe holds.
	sampleLimit = 64 << 20
)

// errCut ends the sample of content that has not ended.
var errCut = errors.New("the sample ends here")

// pipe is content that is read once: a live pipe, or a file that is followed. What
// the sample takes is kept and put in front of the one pass that follows.
type pipe struct {
	pump   *pump
	cancel context.CancelFunc
	head   []byte // what was read so far
	ended  bool   // there is nothing behind the head
	err    error  // or this failure
	spent  bool
}

// newPipe begins to read.
func newPipe(ctx context.Context, open func(context.Context) (*stream, error)) *pipe {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return &pipe{cancel: cancel, pump: newPump(ctx, func() (io.Reader, func(), error) {
		s, err := open(ctx)
		if err != nil {
			return nil, nil, err
		}
		return s, s.close, nil
	})}
}

// collect reads until the head has so many line feeds or bytes, until the content
// ends, or until the wait, if positive, is over.
func (p *pipe) collect(ctx context.Context, lines int, wait time.Duration) error {
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	p.pump.ctx = ctx
	count := bytes.Count(p.head, []byte{'\n'})
	buffer := make([]byte, pumpBytes)
	for count < lines && len(p.head) < sampleLimit && !p.ended && p.err == nil {
		n, err := p.pump.Read(buffer)
		p.head = append(p.head, buffer[:n]...)
		count += bytes.Count(buffer[:n], []byte{'\n'})
		switch {
		case errors.Is(err, io.EOF):
			p.ended = true
		case errors.Is(err, context.DeadlineExceeded) && wait > 0:
			return nil
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			p.err = err
		}
	}
	return nil
}

// sample returns the head; where more may come its end is that of a cut.
func (p *pipe) sample() io.Reader {
	switch {
	case p.err != nil:
		return &joined{bytes.NewReader(p.head), &failing{p.err}}
	case p.ended:
		return bytes.NewReader(p.head)
	}
	return &joined{bytes.NewReader(p.head), &failing{text.ErrIdle, errCut}}
}

// all returns the content from its beginning, once.
func (p *pipe) all(ctx context.Context) (io.Reader, error) {
	if p.spent {
		return nil, errors.New("was read already and is not kept: read it once, or from a file")
	}
	p.spent = true
	p.pump.ctx = ctx
	p.pump.tellIdle()
	head := p.head
	p.head = nil
	switch {
	case p.err != nil:
		return &joined{bytes.NewReader(head), &failing{p.err}}, nil
	case p.ended:
		return bytes.NewReader(head), nil
	}
	return &joined{bytes.NewReader(head), p.pump}, nil
}

// joined reads one after the other; unlike io.MultiReader it hands on errors that
// are no end.
type joined struct{ first, second io.Reader }

func (j *joined) Read(dst []byte) (int, error) {
	if j.first != nil {
		n, err := j.first.Read(dst)
		if err != io.EOF {
			return n, err
		}
		j.first = nil
		if n > 0 {
			return n, nil
		}
	}
	return j.second.Read(dst)
}

// failing returns its errors one after the other, the last for ever.
type failing []error

func (f *failing) Read([]byte) (int, error) {
	err := (*f)[0]
	if len(*f) > 1 {
		*f = (*f)[1:]
	}
	return 0, err
}
