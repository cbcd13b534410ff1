package modelfile

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/safetensors"
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
	if fitted == nil {
		return nil, nil, errors.New("there is no fit to write")
	}
	doc := document{
		Format: Format, Recipe: fitted.Recipe, Report: fitted.Report,
		TargetMean: fitted.TargetMean, TargetVariance: fitted.TargetVariance, Selection: fitted.Selection, Calibration: fitted.Calibration, Family: fitted.Family,
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
	e := encoder{tensorWriter: tensorWriter{names: map[memory]string{}, shared: map[string]string{}}, parts: parts, doc: &doc}
	for i := range fitted.Members {
		if err := e.member(fmt.Sprintf("member.%d.", i), &fitted.Members[i], fitted.Members[:i]); err != nil {
			return nil, nil, err
		}
	}
	if fitted.Family != nil {
		weights := fitted.Members[0].Model.Features.Weights()
		if err := fitted.Family.Validate(weights); err != nil {
			return nil, nil, err
		}
		known := sizes{"d": weights, "parameters": len(fitted.Family.Mode), "axes": fitted.Family.Axes()}
		if err := e.fields("family.", fitted.Family, known); err != nil {
			return nil, nil, err
		}
	}
	if fitted.Calibration != nil {
		if err := fitted.Calibration.Validate(); err != nil {
			return nil, nil, err
		}
		if err := e.fields("calibration.", fitted.Calibration, sizes{"scores": len(fitted.Calibration.Scores)}); err != nil {
			return nil, nil, err
		}
	}
	doc.Shared = e.shared
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

func (e *encoder) member(prefix string, fitted *credence.Member, before []credence.Member) error {
	m := member{Weight: fitted.Weight}
	var err error
	features := fitted.Model.Features
	if of := slices.IndexFunc(before, func(b credence.Member) bool { return b.Model.Features == features }); of >= 0 {
		m.FeaturesOf = &of
	} else if err = e.features(prefix, &m, features); err != nil {
		return err
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

// features adds the features of a member.
func (e *encoder) features(prefix string, m *member, features credence.Features) (err error) {
	switch features := features.(type) {
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
		return nil
	case *keyed.Features:
		m.Keyed, err = e.keyed(prefix, features)
		return err
	}
	return fmt.Errorf("features %T cannot be stored: model files hold those of packages feature and keyed", features)
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
