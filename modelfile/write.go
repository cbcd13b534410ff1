package modelfile

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/internal/safetensors"
)

// Save writes the fit to a file, replacing an old one only when the new one is
// whole and on disk.
func Save(path string, fitted *credence.Fitted) error {
	metadata, tensors, err := encode(fitted)
	if err != nil {
		return fmt.Errorf("modelfile: %s: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		return safetensors.Write(w, metadata, tensors)
	})
}

// Write writes the fit to w.
func Write(w io.Writer, fitted *credence.Fitted) error {
	metadata, tensors, err := encode(fitted)
	if err != nil {
		return fmt.Errorf("modelfile: %w", err)
	}
	return safetensors.Write(w, metadata, tensors)
}

// encode returns the document and the tensors of a fit.
func encode(fitted *credence.Fitted) (map[string]string, []safetensors.Tensor, error) {
	doc := document{
		Format: Format, Recipe: fitted.Recipe, Report: fitted.Report,
		TargetMean: fitted.TargetMean, TargetVariance: fitted.TargetVariance,
	}
	switch f := fitted.Frame.(type) {
	case nil:
	case *frame.Frame:
		doc.Frame = f
	case *keyed.Frame:
		doc.KeyedFrame = f
	default:
		return nil, nil, fmt.Errorf("frame %T cannot be stored: model files hold those of packages frame and keyed", fitted.Frame)
	}
	var c collector
	for i := range fitted.Members {
		m, err := encodeMember(&c, fmt.Sprintf("member.%d.", i), &fitted.Members[i])
		if err != nil {
			return nil, nil, err
		}
		doc.Members = append(doc.Members, m)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, nil, err
	}
	return map[string]string{metadataKey: string(text)}, c.tensors, nil
}

func encodeMember(c *collector, prefix string, fitted *credence.Member) (member, error) {
	var m member
	switch features := fitted.Model.Features.(type) {
	case *feature.Set:
		m.Inputs = features.Inputs()
		for i, term := range features.Terms() {
			data, err := json.Marshal(term)
			if err != nil {
				return member{}, fmt.Errorf("term %s: %w", term.Label(), err)
			}
			m.Terms = append(m.Terms, part{Kind: term.Kind(), Data: data})
			c.tagged(fmt.Sprintf("%sfeatures.%d.", prefix, i), term, feature.Width(term, &m.Inputs))
		}
	case *keyed.Features:
		m.Keyed = encodeKeyed(c, prefix, features)
	default:
		return member{}, fmt.Errorf("features %T cannot be stored: model files hold those of packages feature and keyed", fitted.Model.Features)
	}
	var err error
	if m.Likelihood, err = encodePart("likelihood", likelihoods, fitted.Model.Likelihood); err != nil {
		return member{}, err
	}
	if m.Prior, err = encodePart("prior", priors, fitted.Model.Prior); err != nil {
		return member{}, err
	}
	m.Posterior, err = encodePosterior(c, prefix+"posterior.", fitted.Posterior)
	return m, err
}
