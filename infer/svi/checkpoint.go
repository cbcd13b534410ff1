package svi

import (
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/atomicfile"
)

// checkpoint is what a checkpoint file holds: the state of the loop that was
// interrupted, and what else has been learned before it.
type checkpoint struct {
	Fingerprint uint64
	Hyper       []float64 // of the features
	Redraw      int       // start whose draw of random features was kept
	Newton      *progressState
	Mixture     *mixtureState
}

// fingerprint tells model, options and data apart, these by their number of rows and their first block:
// a checkpoint of others is refused.
func (r *fit) fingerprint() (uint64, error) {
	h := fnv.New64a()
	config := r.config
	config.MaxIterations, config.Epochs = 0, 0 // a fit may go on with other limits
	text, err := json.Marshal(config)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(h, "%s %v %v %d %d", text, r.model.Likelihood, r.prior, r.data.Rows(), r.d)
	for _, b := range r.model.Features.Blocks() {
		fmt.Fprintf(h, " %v", b)
	}
	var first credence.Batch
	if err := r.data.Read(&first, 0, min(r.data.Rows(), credence.BlockRows)); err != nil {
		return 0, err
	}
	fmt.Fprintf(h, " %v %v %v %v", first.Target, first.Offset, first.Weight, first.Trials)
	for i := range first.X.Rows {
		if first.X.Cols > 0 {
			fmt.Fprintf(h, " %v", first.X.Row(i))
		}
	}
	fmt.Fprintf(h, " %v %v", first.Sparse.Index, first.Sparse.Value)
	return h.Sum64(), nil
}

// writeCheckpoint replaces the checkpoint file, if there is to be one.
func (r *fit) writeCheckpoint(c *checkpoint) error {
	if r.config.Checkpoint == "" {
		return nil
	}
	var err error
	if c.Fingerprint, err = r.fingerprint(); err != nil {
		return err
	}
	c.Hyper, c.Redraw = r.hyperValues(), r.redraw
	return atomicfile.Write(r.config.Checkpoint, func(w io.Writer) error {
		return gob.NewEncoder(w).Encode(c)
	})
}

// readCheckpoint returns what the checkpoint file holds, or nil if there is none.
func (r *fit) readCheckpoint() (*checkpoint, error) {
	if r.config.Checkpoint == "" {
		return nil, nil
	}
	file, err := os.Open(r.config.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("svi: checkpoint: %w", err)
	}
	defer file.Close()
	c := new(checkpoint)
	if err := gob.NewDecoder(file).Decode(c); err != nil {
		return nil, fmt.Errorf("svi: checkpoint %s cannot be read: %w: remove it to start afresh", r.config.Checkpoint, err)
	}
	want, err := r.fingerprint()
	if err != nil {
		return nil, err
	}
	if c.Fingerprint != want {
		return nil, fmt.Errorf("svi: checkpoint %s is of other data, another model or other options: remove it to start afresh", r.config.Checkpoint)
	}
	return c, nil
}

// save writes a checkpoint of a fit of components.
func (r *fit) save(state *mixtureState) error {
	return r.writeCheckpoint(&checkpoint{Mixture: state})
}
