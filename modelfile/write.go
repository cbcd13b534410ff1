package modelfile

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
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
		Format: format, Recipe: fitted.Recipe, Report: fitted.Report,
		TargetMean: fitted.TargetMean, TargetVariance: fitted.TargetVariance,
	}
	if fitted.Frame != nil {
		f, ok := fitted.Frame.(*frame.Frame)
		if !ok {
			return nil, nil, fmt.Errorf("frame %T cannot be stored: model files hold those of package frame", fitted.Frame)
		}
		doc.Frame = f
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
	set, ok := fitted.Model.Features.(*feature.Set)
	if !ok {
		return member{}, fmt.Errorf("features %T cannot be stored: model files hold those of package feature", fitted.Model.Features)
	}
	m := member{Inputs: set.Inputs()}
	for i, term := range set.Terms() {
		data, err := json.Marshal(term)
		if err != nil {
			return member{}, fmt.Errorf("term %s: %w", term.Label(), err)
		}
		m.Terms = append(m.Terms, part{Kind: term.Kind(), Data: data})
		c.tagged(fmt.Sprintf("%sfeatures.%d.", prefix, i), term, feature.Width(term, &m.Inputs))
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
