package modelfile

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/internal/safetensors"
	"github.com/credence-ml/credence/posterior"
)

// Models over keys have these tensors for each member:
//
//	member.0.features.keys           n  keys, 64 bits each
//	member.0.features.names.text     bytes of all names, where they are kept
//	member.0.features.names.ends     n  where each ends
//	member.0.posterior.mean, .variance, .inclusion    n+2: intercept, keys, unseen

// IsKeyed says whether a file holds a model over keys, which is applied to the
// text of rows and not to a table. It is false for a file that cannot be read.
func IsKeyed(path string) bool {
	reader, err := safetensors.Open(path)
	if err != nil {
		return false
	}
	defer reader.Close()
	var doc struct {
		KeyedFrame *json.RawMessage `json:"keyed_frame"`
	}
	return json.Unmarshal([]byte(reader.Metadata()[metadataKey]), &doc) == nil && doc.KeyedFrame != nil
}

// encodeKeyed adds the dictionary of keyed features.
func encodeKeyed(c *collector, prefix string, f *keyed.Features) *keyedData {
	c.tensors = append(c.tensors, safetensors.Tensor{
		Name: prefix + "features.keys", DType: safetensors.I64, Shape: []int{len(f.Keys)},
		Data: func(w io.Writer) error { return writeKeys(w, f.Keys) },
	})
	if f.Ends != nil {
		c.tensors = append(c.tensors,
			safetensors.Of(prefix+"features.names.text", f.Text),
			safetensors.Of(prefix+"features.names.ends", f.Ends))
	}
	return &keyedData{Named: f.Ends != nil}
}

// writeKeys writes keys in pieces: there may be millions, and a copy of them all
// would count in the memory of a stream.
func writeKeys(w io.Writer, keys []uint64) error {
	var piece [4096]int64
	for len(keys) > 0 {
		n := min(len(keys), len(piece))
		for i, key := range keys[:n] {
			piece[i] = int64(key)
		}
		if err := safetensors.Encode(w, piece[:n]); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// keyedData is the plain data of keyed features.
type keyedData struct {
	Named bool `json:"named"` // the names of keys are kept
}

func decodeKeyed(s shelf, prefix string, data *keyedData) (*keyed.Features, error) {
	keys, err := safetensors.Read[int64](s.reader, prefix+"features.keys")
	if err != nil {
		return nil, err
	}
	f := &keyed.Features{Keys: make([]uint64, len(keys))}
	for i, key := range keys {
		f.Keys[i] = uint64(key)
	}
	if data.Named {
		if f.Text, err = safetensors.Read[uint8](s.reader, prefix+"features.names.text"); err != nil {
			return nil, err
		}
		if f.Ends, err = safetensors.Read[int64](s.reader, prefix+"features.names.ends"); err != nil {
			return nil, err
		}
		if f.Ends == nil {
			f.Ends = []int64{}
		}
	}
	return f, f.Validate()
}

// decodeKeyedMember is decodeMember for a model over keys.
func decodeKeyedMember(s shelf, prefix string, m *member) (credence.Member, error) {
	var none credence.Member
	features, err := decodeKeyed(s, prefix, m.Keyed)
	if err != nil {
		return none, err
	}
	lik, err := decodePart("likelihood", likelihoods, m.Likelihood)
	if err != nil {
		return none, err
	}
	pri, err := decodePart("prior", priors, m.Prior)
	if err != nil {
		return none, err
	}
	post, err := decodePosterior(s, prefix+"posterior.", m.Posterior, features.Weights())
	if err != nil {
		return none, err
	}
	return credence.Member{
		Model:     credence.Model{Features: features, Likelihood: lik, Prior: pri},
		Posterior: post,
	}, nil
}

// spikeSlabData is the plain data of a posterior.SpikeSlab.
type spikeSlabData struct {
	Included bool `json:"included"` // every weight is included: no probabilities are stored
}

func encodeSpikeSlab(c *collector, prefix string, q *posterior.SpikeSlab) (part, error) {
	c.floats(prefix+"mean", q.Mean)
	c.floats(prefix+"variance", q.Variance)
	if q.Probability != nil {
		c.floats(prefix+"inclusion", q.Probability)
	}
	data, err := json.Marshal(spikeSlabData{Included: q.Probability == nil})
	return part{Kind: "spikeslab", Data: data}, err
}

func decodeSpikeSlab(s shelf, prefix string, encoded json.RawMessage, d int) (*posterior.SpikeSlab, error) {
	var data spikeSlabData
	if err := json.Unmarshal(encoded, &data); err != nil {
		return nil, fmt.Errorf("posterior spikeslab: %w", err)
	}
	q := &posterior.SpikeSlab{}
	var err error
	if q.Mean, err = s.floats(prefix+"mean", d); err != nil {
		return nil, err
	}
	if q.Variance, err = s.floats(prefix+"variance", d); err != nil {
		return nil, err
	}
	if !data.Included {
		if q.Probability, err = s.floats(prefix+"inclusion", d); err != nil {
			return nil, err
		}
	}
	return q, q.Validate()
}
