package modelfile

import (
	"encoding/json"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/selection"
)

// Format is the version of the document that this package writes. It also reads formats
// 1 to 3, and refuses any other.
const Format = 4

// metadataKey is the metadata entry that holds the document.
const metadataKey = "credence"

// document is the JSON of a model file.
type document struct {
	Format     int             `json:"format"`
	Recipe     credence.Recipe `json:"recipe"`
	Frame      *frame.Frame    `json:"frame,omitempty"`
	KeyedFrame *keyed.Frame    `json:"keyed_frame,omitempty"` // of a model over keys
	// Inputs are those of all members of a model without a frame. A frame has them.
	Inputs         *feature.Inputs   `json:"inputs,omitempty"`
	Members        []member          `json:"members"`
	Report         credence.Report   `json:"report"`
	TargetMean     float64           `json:"target_mean"`
	TargetVariance float64           `json:"target_variance"`
	Selection      *selection.Result `json:"selection,omitempty"`
	// Shared names, for a tensor that members have in common with others, the one that is stored.
	Shared map[string]string `json:"shared,omitempty"`

	format1 []feature.Inputs // of every member, which format 1 has
}

// inputs returns the inputs of the features of member i.
func (d *document) inputs(i int) feature.Inputs {
	switch {
	case d.format1 != nil:
		return d.format1[i]
	case d.Frame != nil:
		return d.Frame.ModelInputs()
	case d.Inputs != nil:
		return *d.Inputs
	}
	return feature.Inputs{}
}

// member is the JSON of a credence.Member.
type member struct {
	// FeaturesOf is the index of an earlier member whose features, all of them, are those of this one.
	FeaturesOf *int       `json:"features_of,omitempty"`
	Terms      []part     `json:"terms,omitempty"`
	Keyed      *keyedData `json:"keyed,omitempty"` // features are a dictionary of keys, not terms
	Likelihood part       `json:"likelihood"`
	Prior      part       `json:"prior"`
	Posterior  part       `json:"posterior"`
	Weight     float64    `json:"weight,omitempty"`
}

// part is one part of a model: the name of its type, and its plain data.
type part struct {
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
}

// learnFlags are the parameters of families by the names that format 1 gave them, with those of the
// flags that said whether a value, which was a plain number or list, had been learned.
var learnFlags = map[string]string{
	"noise_variance": "learn", "size": "learn", "shape": "learn", "cutpoints": "learn",
	"df": "learn_df", "scale": "learn_scale",
}

// upgrade turns the parameters of a family into those of this format.
func (p *part) upgrade() error {
	var fields map[string]any
	if err := json.Unmarshal(p.Data, &fields); err != nil {
		return fmt.Errorf("likelihood %s: %w", p.Kind, err)
	}
	for name, value := range fields {
		flag, known := learnFlags[name]
		if !known {
			continue
		}
		state := param.Held
		if learned, _ := fields[flag].(bool); learned {
			state = param.Learned
		}
		key := "value"
		if name == "cutpoints" {
			key = "values"
		}
		fields[name] = map[string]any{key: value, "state": state}
	}
	var err error
	p.Data, err = json.Marshal(fields)
	return err
}

// parseFormat1 reads the JSON of format 1, in which every member has its inputs, and the data of
// posteriors have sizes that the shapes of tensors say.
func parseFormat1(text []byte) (*document, error) {
	var old struct {
		document
		Members []struct {
			member
			Inputs feature.Inputs `json:"inputs"`
		} `json:"members"`
	}
	if err := json.Unmarshal(text, &old); err != nil {
		return nil, err
	}
	doc := &old.document
	for _, m := range old.Members {
		if f := doc.Frame; f != nil && m.Keyed == nil {
			if len(m.Inputs.Dense) != len(f.Inputs) || m.Inputs.Segment != f.Sparse {
				return nil, fmt.Errorf("features of %d+%d inputs do not fit a frame of %d+%d",
					len(m.Inputs.Dense), m.Inputs.Segment, len(f.Inputs), f.Sparse)
			}
			for i := range f.Inputs {
				if in := &m.Inputs.Dense[i]; f.Inputs[i].Kind != in.Kind || len(f.Inputs[i].Levels) != len(in.Levels) {
					return nil, fmt.Errorf("input %s is one thing to the frame and another to the features", f.Inputs[i].Name)
				}
			}
		}
		if m.Keyed != nil {
			m.Keyed.lastUnseen = true
		}
		if err := m.Likelihood.upgrade(); err != nil {
			return nil, err
		}
		doc.Members, doc.format1 = append(doc.Members, m.member), append(doc.format1, m.Inputs)
	}
	return doc, nil
}
