package modelfile

import (
	"encoding/json"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
)

// Format is the version of the document that this package writes. A reader
// refuses any other.
const Format = 1

// metadataKey is the metadata entry that holds the document.
const metadataKey = "credence"

// document is the JSON of a model file.
type document struct {
	Format         int             `json:"format"`
	Recipe         credence.Recipe `json:"recipe"`
	Frame          *frame.Frame    `json:"frame,omitempty"`
	KeyedFrame     *keyed.Frame    `json:"keyed_frame,omitempty"` // of a model over keys
	Members        []member        `json:"members"`
	Report         credence.Report `json:"report"`
	TargetMean     float64         `json:"target_mean"`
	TargetVariance float64         `json:"target_variance"`
}

// member is the JSON of a credence.Member.
type member struct {
	Inputs     feature.Inputs `json:"inputs"`
	Terms      []part         `json:"terms"`
	Keyed      *keyedData     `json:"keyed,omitempty"` // features are a dictionary of keys, not terms
	Likelihood part           `json:"likelihood"`
	Prior      part           `json:"prior"`
	Posterior  part           `json:"posterior"`
}

// part is one part of a model: the name of its type, and its plain data.
type part struct {
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
}
