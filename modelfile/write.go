package modelfile

import (
	"fmt"
	"io"
	"reflect"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/internal/safetensors"
)

// Save writes a fit of [DefaultParts] to a file; see [SaveWith].
func Save(path string, fitted *credence.Fitted) error { return SaveWith(path, fitted, DefaultParts()) }

// SaveWith writes the fit to a file, replacing an old one only when the new one is
// whole and on disk. What [LoadWith] would refuse is refused, and the old file stays.
func SaveWith(path string, fitted *credence.Fitted, parts Parts) error {
	metadata, tensors, err := encode(fitted, parts)
	if err != nil {
		return fmt.Errorf("modelfile: %s is not written: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		return safetensors.Write(w, metadata, tensors)
	})
}

// Write writes the fit to w, as [SaveWith] does to a file.
func Write(w io.Writer, fitted *credence.Fitted, parts Parts) error {
	metadata, tensors, err := encode(fitted, parts)
	if err != nil {
		return fmt.Errorf("modelfile: %w", err)
	}
	return safetensors.Write(w, metadata, tensors)
}

// encode returns the document and the tensors of a fit.
func encode(fitted *credence.Fitted, parts Parts) (map[string]string, []safetensors.Tensor, error) {
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
	if err := fitted.CheckWeights(); err != nil {
		return nil, nil, err
	}
	e := encoder{parts: parts, doc: &doc}
	for i := range fitted.Members {
		if err := e.member(fmt.Sprintf("member.%d.", i), &fitted.Members[i]); err != nil {
			return nil, nil, err
		}
	}
	text, err := marshal("description of the model", doc)
	if err != nil {
		return nil, nil, err
	}
	return map[string]string{metadataKey: string(text)}, e.tensors, nil
}

// encoder adds members to a document.
type encoder struct {
	tensorWriter
	parts  Parts
	doc    *document
	inputs *feature.Inputs // of the members before; nil before the first
}

func (e *encoder) member(prefix string, fitted *credence.Member) error {
	m := member{Weight: fitted.Weight}
	var err error
	switch features := fitted.Model.Features.(type) {
	case *feature.Set:
		if err = e.shareInputs(features.Inputs()); err != nil {
			return err
		}
		for i, term := range features.Terms() {
			encoded, err := encodePart("term", byKind(e.parts.Terms), term)
			if err != nil {
				return err
			}
			m.Terms = append(m.Terms, encoded)
			if err := e.fields(fmt.Sprintf("%sfeatures.%d.", prefix, i), term, termSizes(term, e.inputs)); err != nil {
				return err
			}
		}
	case *keyed.Features:
		if m.Keyed, err = e.keyed(prefix, features); err != nil {
			return err
		}
	default:
		return fmt.Errorf("features %T cannot be stored: model files hold those of packages feature and keyed", fitted.Model.Features)
	}
	if m.Likelihood, err = encodePart("likelihood", byName(e.parts.Families), fitted.Model.Likelihood); err != nil {
		return err
	}
	if m.Prior, err = encodePart("prior", byName(e.parts.Priors), fitted.Model.Prior); err != nil {
		return err
	}
	if m.Posterior, err = encodePart("posterior", byKind(e.parts.Posteriors), fitted.Posterior); err != nil {
		return err
	}
	e.doc.Members = append(e.doc.Members, m)
	return e.fields(prefix+"posterior.", fitted.Posterior, sizes{"d": fitted.Model.Features.Weights()})
}

// shareInputs makes sure that the inputs of a member are those that the document has once for all.
func (e *encoder) shareInputs(inputs feature.Inputs) error {
	if e.inputs == nil {
		e.inputs = &inputs
		if e.doc.Frame == nil {
			e.doc.Inputs = e.inputs
		} else if of := e.doc.Frame.ModelInputs(); !reflect.DeepEqual(of, inputs) {
			return fmt.Errorf("the features are of other inputs than the frame: make them of the frame's ModelInputs")
		}
	}
	if !reflect.DeepEqual(*e.inputs, inputs) {
		return fmt.Errorf("the members of the fit have different inputs")
	}
	return nil
}

// termSizes are the sizes that a term's tensors have.
func termSizes(term feature.Term, inputs *feature.Inputs) sizes {
	if t, ok := term.(feature.Tensored); ok {
		return sizes{"inputs": t.TensorInputs(inputs)}
	}
	return sizes{}
}
