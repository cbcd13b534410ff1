package parquet

import (
	"context"
	"runtime"
	"sync"

	"github.com/parquet-go/bitpack"
)

const (
	// memory is what the pages of row groups may hold that are read side by side. A large file may hold fourTimes its
	// own bytes: hundreds of columns have pages of a megabyte each, and dictionaries.
	memory, fourTimes = 256 << 20, 4
	// much is where memory is collected as soon as it is given back, before the next row group takes as much.
	much = memory / 4
)

// Budget is the memory that row groups share which are read side by side. A quarter of it is for those that are read
// ahead; a row group that needs more waits until its rows are wanted next. So it does not depend on the others what is
// refused.
type Budget struct {
	mu    sync.Mutex
	ahead int64 // that row groups hold before it is their turn
}

// Group is a row group. Its pages are read by one goroutine, which may be ahead of its turn.
type Group struct {
	Rows int64

	file   *File
	index  int
	budget *Budget
	most   int64 // bytes
	held   int64 // of them
	turn   chan struct{}
	done   <-chan struct{}
	pages  []*Pages
	stored []byte // a page as it is in the file
}

// Group opens a row group, whose memory is of that budget; waiting and decoding end with the context.
func (f *File) Group(ctx context.Context, index int, budget *Budget) *Group {
	return &Group{Rows: f.groups[index].NumRows, file: f, index: index, budget: budget, most: max(memory, fourTimes*f.size), turn: make(chan struct{}), done: ctx.Done()}
}

// Turn says that the rows of the group are wanted next.
func (g *Group) Turn() {
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	g.budget.ahead -= g.held
	close(g.turn)
}

// isTurn reports whether its rows are wanted next.
func (g *Group) isTurn() bool {
	select {
	case <-g.turn:
		return true
	default:
		return false
	}
}

// Take takes so many bytes of the budget until the group is closed, or waits for its turn. It refuses more than there
// is.
func (g *Group) Take(bytes int) error {
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	if !g.isTurn() && g.budget.ahead+int64(bytes) > g.most/4 {
		g.budget.mu.Unlock()
		select {
		case <-g.turn:
		case <-g.done:
		}
		g.budget.mu.Lock()
		if err := g.ended(); err != nil {
			return err
		}
	}
	if g.held += int64(bytes); !g.isTurn() {
		g.budget.ahead += int64(bytes)
	} else if most := g.most - g.most/4; g.held > most {
		return unread("the pages and dictionaries of its columns take more than %d MB at once: write it with smaller pages, or name fewer columns", most>>20)
	}
	return nil
}

// ended returns an error once nobody wants the rows any more.
func (g *Group) ended() error {
	select {
	case <-g.done:
		return context.Canceled
	default:
		return nil
	}
}

// Close gives the memory of all pages back.
func (g *Group) Close() {
	for _, p := range g.pages {
		p.close()
	}
	g.pages, g.stored = nil, nil
	g.budget.mu.Lock()
	if !g.isTurn() {
		g.budget.ahead -= g.held
	}
	held := g.held
	g.held = 0
	g.budget.mu.Unlock()
	if held > much {
		runtime.GC()
	}
}

// grown returns n bytes in the memory of old where that is enough, with room behind them for what unpacks bits.
func (g *Group) grown(old []byte, n int) ([]byte, error) {
	if n+bitpack.PaddingInt64 <= cap(old) {
		return old[:n], nil
	}
	if err := g.Take(n + n/8 - cap(old)); err != nil {
		return nil, err
	}
	return make([]byte, n, n+n/8+bitpack.PaddingInt64), nil
}
