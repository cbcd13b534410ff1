package sep

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/safetensors"
)

// Sharded is k learners that share the rows of a stream and are merged at fixed
// numbers of rows. Between merges every shard knows the state at the last merge
// and its own rows. Likelihood factors are sums in natural parameters, so a merge
// adds up what the shards have gained; then the prior factors are refreshed and
// all shards go on from the common state.
//
// Results depend on the number of shards and not on the number of processors:
// rows are dealt by their number, and merges are in the order of the shards.
// Memory is k+1 times that of one learner.
type Sharded struct {
	master *Learner
	shards []*Learner
	marks  [][]uint64 // by shard: a bit for every slot touched since the merge
	dealt  []credence.Batch
	from   [][]int // row of the batch that each dealt row is
	scores [][]float64
	rows   int64 // dealt
	merged int64 // at the last merge
}

// dealRows is the number of consecutive rows that go to one shard.
const dealRows = 16

// NewSharded returns learners that have seen nothing.
func NewSharded(cfg Config, hyper Hyper) (*Sharded, error) {
	master, err := NewLearner(cfg, hyper)
	if err != nil {
		return nil, err
	}
	s := &Sharded{master: master}
	s.start()
	return s, nil
}

// start makes the shards from the master.
func (s *Sharded) start() {
	k := s.master.cfg.Shards
	s.marks, s.from, s.scores = make([][]uint64, k), make([][]int, k), make([][]float64, k)
	s.dealt = make([]credence.Batch, k)
	for range k {
		shard := *s.master
		shard.chunks, shard.slots, shard.work = nil, 0, nil
		shard.nextEB = neverEB // the master learns ρ0 and τ0
		shard.early = s.master.early.pending()
		shard.reserve(s.master.slots)
		for i, c := range s.master.chunks {
			*shard.chunks[i] = *c
		}
		s.shards = append(s.shards, &shard)
	}
}

// Learn implements [credence.Online].
func (s *Sharded) Learn(b *credence.Batch, probability []float64) (refused []int) {
	for first := 0; first < b.Sparse.Rows; {
		count := int(min(int64(b.Sparse.Rows-first), s.merged+s.round()-s.rows))
		refused = append(refused, s.learn(b, probability, first, count)...)
		s.rows += int64(count)
		first += count
		if s.rows == s.merged+s.round() {
			s.merge()
		}
	}
	return refused
}

// round is the number of rows between the last merge and the next: ShardRows a
// shard, and less at the beginning, when the rows of a round would otherwise
// be most of what is known and every shard would find the same.
func (s *Sharded) round() int64 {
	return min(ShardRows*int64(len(s.shards)), s.merged/10+int64(len(s.shards)*dealRows))
}

// learn deals rows to the shards, which learn them at the same time.
func (s *Sharded) learn(b *credence.Batch, probability []float64, first, count int) (refused []int) {
	for k := range s.shards {
		d := &s.dealt[k]
		d.Sparse.Reset(b.Sparse.Cols)
		d.Target, d.Weight, d.Offset = d.Target[:0], d.Weight[:0], d.Offset[:0]
		s.from[k] = s.from[k][:0]
	}
	for i := first; i < first+count; i++ {
		k := int((s.rows + int64(i-first)) / dealRows % int64(len(s.shards)))
		d := &s.dealt[k]
		columns, values := b.Sparse.Row(i)
		d.Sparse.AppendRow(columns, values)
		d.Target = append(d.Target, b.Target[i])
		d.Weight = append(d.Weight, b.WeightOf(i))
		d.Offset = append(d.Offset, b.OffsetOf(i))
		s.from[k] = append(s.from[k], i)
	}
	var wait sync.WaitGroup
	refusedBy := make([][]int, len(s.shards))
	for k := range s.shards {
		wait.Go(func() { refusedBy[k] = s.learnShard(k) })
	}
	wait.Wait()
	for k, rows := range refusedBy {
		for _, i := range rows {
			refused = append(refused, s.from[k][i])
		}
	}
	slices.Sort(refused)
	for k, rows := range s.from {
		for i, row := range rows {
			probability[row] = s.scores[k][i]
		}
	}
	return refused
}

func (s *Sharded) learnShard(k int) (refused []int) {
	d := &s.dealt[k]
	if n := len(s.from[k]); cap(s.scores[k]) < n {
		s.scores[k] = make([]float64, n)
	}
	s.scores[k] = s.scores[k][:len(s.from[k])]
	refused = s.shards[k].Learn(d, s.scores[k])
	if need := (d.Sparse.Cols + 63) / 64; len(s.marks[k]) < need {
		s.marks[k] = append(s.marks[k], make([]uint64, need-len(s.marks[k]))...)
	}
	for _, slot := range d.Sparse.Index {
		if s.shards[k].at(slot).due != 0 { // otherwise its rows were only scored
			s.marks[k][slot/64] |= 1 << (slot % 64)
		}
	}
	return refused
}

// merge adds what the shards have gained to the master and hands its state back.
func (s *Sharded) merge() {
	m := s.master
	words := 0
	for k, shard := range s.shards {
		m.reserve(shard.slots)
		words = max(words, len(s.marks[k]))
		// What the shard has gained, while the master is as it was.
		eachBit(s.marks[k], func(slot int32) { shard.at(slot).add(-1, &m.at(slot).factors) })
		shard.bias.add(-1, &m.bias.factors)
	}
	for k, shard := range s.shards {
		eachBit(s.marks[k], func(slot int32) {
			f := m.at(slot)
			if f.due == 0 {
				m.begin(f)
			}
			f.add(1, &shard.at(slot).factors)
		})
		m.bias.add(1, &shard.bias.factors)
		m.rows += shard.rows
		m.events.SkippedCavities += shard.events.SkippedCavities
		m.events.NegativeSites += shard.events.NegativeSites
	}
	all := make([]uint64, words)
	for k := range s.shards {
		for i, word := range s.marks[k] {
			all[i] |= word
		}
		clear(s.marks[k])
	}
	eachBit(all, func(slot int32) { m.refresh(m.at(slot)) })
	everything := m.rows >= m.nextEB
	if everything {
		m.learnHyper()
	}
	if m.early.stage == filling {
		for _, shard := range s.shards {
			m.early.take(&shard.early)
		}
		if m.early.complete() {
			m.settle()
			everything = true
		}
	}
	for _, shard := range s.shards {
		shard.reserve(m.slots)
		if everything {
			for i, c := range m.chunks {
				*shard.chunks[i] = *c
			}
		} else {
			eachBit(all, func(slot int32) { *shard.at(slot) = *m.at(slot) })
		}
		s.copyScalars(shard)
	}
	s.merged = s.rows
}

// copyScalars gives a shard what the master has beside the features.
func (s *Sharded) copyScalars(shard *Learner) {
	shard.bias, shard.prior, shard.again = s.master.bias, s.master.prior, s.master.again
	shard.rows, shard.events = 0, Events{}
	shard.features, shard.selected = s.master.features, s.master.selected
	shard.early = s.master.early.pending()
}

func eachBit(words []uint64, visit func(slot int32)) {
	for i, word := range words {
		for ; word != 0; word &= word - 1 {
			visit(int32(64*i + bits.TrailingZeros64(word)))
		}
	}
}

// EndPass is Learner.EndPass.
func (s *Sharded) EndPass() {
	s.merge()
	s.master.EndPass()
	for _, shard := range s.shards {
		s.copyScalars(shard)
	}
}

// Finish merges what is pending and brings everything up to date, for results.
func (s *Sharded) Finish() {
	s.merge()
	s.master.Finish()
	for _, shard := range s.shards {
		for i, c := range s.master.chunks {
			*shard.chunks[i] = *c
		}
		s.copyScalars(shard)
	}
}

// Weight, Selected and Describe are those of Learner, as of the last merge.
func (s *Sharded) Weight(slot int) credence.Marginal { return s.master.Weight(slot) }
func (s *Sharded) Selected(count int) int            { return s.master.Selected(count) }
func (s *Sharded) Describe(f *credence.Fitted)       { s.master.Describe(f) }

// shardedScalars is the document of a sharded state.
type shardedScalars struct {
	Master json.RawMessage   `json:"shards_state"`
	Shards []json.RawMessage `json:"shards"`
	Rows   int64             `json:"rows"`
	Merged int64             `json:"merged"`
}

// State is Learner.State, for the master and every shard.
func (s *Sharded) State() ([]byte, []safetensors.Tensor, error) {
	document, tensors, err := s.master.State()
	if err != nil {
		return nil, nil, err
	}
	all := shardedScalars{Master: document, Rows: s.rows, Merged: s.merged}
	for k, shard := range s.shards {
		document, own, err := shard.State()
		if err != nil {
			return nil, nil, err
		}
		all.Shards = append(all.Shards, document)
		marks := make([]int64, len(s.marks[k]))
		for i, word := range s.marks[k] {
			marks[i] = int64(word)
		}
		own = append(own, safetensors.Of(statePrefix+"marks", marks))
		for _, t := range own {
			t.Name = shardName(k, t.Name)
			tensors = append(tensors, t)
		}
	}
	document, err = json.Marshal(all)
	return document, tensors, err
}

// shardName is the name of a tensor of shard k.
func shardName(k int, name string) string {
	return fmt.Sprintf("%sshard.%d.%s", statePrefix, k, strings.TrimPrefix(name, statePrefix))
}

// RestoreSharded returns the learners of a state.
func RestoreSharded(document []byte, r *safetensors.Reader) (*Sharded, error) {
	var all shardedScalars
	if err := json.Unmarshal(document, &all); err != nil {
		return nil, fmt.Errorf("sep: state: %w", err)
	}
	master, err := Restore(all.Master, r)
	if err != nil {
		return nil, err
	}
	s := &Sharded{master: master, rows: all.Rows, merged: all.Merged}
	if master.cfg.Shards < 2 || len(all.Shards) != master.cfg.Shards {
		return nil, fmt.Errorf("sep: state: %d shards, %d stored: the file is damaged", master.cfg.Shards, len(all.Shards))
	}
	s.start()
	if all.Merged < 0 || all.Rows < all.Merged || all.Rows-all.Merged >= s.round() {
		return nil, fmt.Errorf("sep: state: %d rows of which %d are merged: the file is damaged", all.Rows, all.Merged)
	}
	for k := range s.shards {
		shard, err := restore(all.Shards[k], r, func(name string) string { return shardName(k, name) })
		if err != nil {
			return nil, err
		}
		if shard.cfg.Shards != master.cfg.Shards || shard.nextEB != neverEB {
			return nil, fmt.Errorf("sep: state: shard %d is a learner of its own: the file is damaged", k)
		}
		shard.early.mostRows, shard.early.entries = math.MaxInt, math.MaxInt
		s.shards[k] = shard
		marks, err := safetensors.Read[int64](r, shardName(k, statePrefix+"marks"))
		if err != nil {
			return nil, fmt.Errorf("sep: state: %w", err)
		}
		s.marks[k] = make([]uint64, len(marks))
		for i, word := range marks {
			s.marks[k][i] = uint64(word)
			for slot := range 64 {
				if word>>slot&1 == 1 && 64*i+slot >= shard.slots {
					return nil, fmt.Errorf("sep: state: slot %d of %d is marked: the file is damaged", 64*i+slot, shard.slots)
				}
			}
		}
	}
	return s, nil
}
