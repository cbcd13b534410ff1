package modelfile

import (
	"encoding/json"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/calibration"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/selection"
)

// Format is the version of the document that this package writes, and the last that it reads; earliest is the first.
// Format 4 had a recipe of formula, family, prior, engine and seed alone.
const (
	Format   = 5
	earliest = 4
)

// metadataKey is the metadata entry that holds the document.
const metadataKey = "credence"

// document is the JSON of a model file.
type document struct {
	Format     int             `json:"format"`
	Recipe     credence.Recipe `json:"recipe"`
	Frame      *frame.Frame    `json:"frame,omitempty"`
	KeyedFrame *keyed.Frame    `json:"keyed_frame,omitempty"` // of a model over keys
	// Inputs are those of all members of a model without a frame. A frame has them.
	Inputs         *feature.Inputs     `json:"inputs,omitempty"`
	Members        []member            `json:"members"`
	Report         credence.Report     `json:"report"`
	TargetMean     float64             `json:"target_mean"`
	TargetVariance float64             `json:"target_variance"`
	Selection      *selection.Result   `json:"selection,omitempty"`
	Calibration    *calibration.Result `json:"calibration,omitempty"`
	// Family is absent where the fit does not know it, and in files of earlier versions.
	Family *credence.FamilyPosterior `json:"family,omitempty"`
	// Shared names, for a tensor that members have in common with others, the one that is stored.
	Shared map[string]string `json:"shared,omitempty"`
}

// inputs returns the inputs of the features of all members.
func (d *document) inputs() feature.Inputs {
	switch {
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
