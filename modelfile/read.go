package modelfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/internal/safetensors"
)

// Load reads a fit from a file. An error names the file, what is wrong with it,
// and what to do.
func Load(path string) (*credence.Fitted, error) {
	reader, err := safetensors.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing{path}
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%s cannot be read: %w: ask its owner for the permission", path, fs.ErrPermission)
	case err != nil:
		return nil, fmt.Errorf("%s is not a model file that can be read: %w: restore it from a copy or fit again", path, err)
	}
	defer reader.Close()
	fitted, err := decode(reader)
	if err != nil {
		return nil, fmt.Errorf("%s is not a model file that can be read: %w", path, err)
	}
	return fitted, nil
}

// missing is the error of a file that is not there. It is fs.ErrNotExist to errors.Is,
// and says so once.
type missing struct{ path string }

func (m missing) Error() string {
	return fmt.Sprintf("%s: there is no such file: check the path", m.path)
}

func (m missing) Is(target error) bool { return target == fs.ErrNotExist }

// Read reads a fit of the given size in bytes.
func Read(source io.ReaderAt, size int64) (*credence.Fitted, error) {
	reader, err := safetensors.NewReader(source, size)
	if err != nil {
		return nil, fmt.Errorf("modelfile: %w", err)
	}
	fitted, err := decode(reader)
	if err != nil {
		return nil, fmt.Errorf("modelfile: %w", err)
	}
	return fitted, nil
}

func decode(reader *safetensors.Reader) (*credence.Fitted, error) {
	text, found := reader.Metadata()[metadataKey]
	if !found {
		return nil, errors.New("it is a safetensors file of another program: give one that credence wrote")
	}
	if err := reader.Verify(); err != nil {
		return nil, err
	}
	var version struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal([]byte(text), &version); err != nil {
		return nil, fmt.Errorf("its description is damaged: %w", err)
	}
	if version.Format != Format {
		return nil, fmt.Errorf("it has format %d and this version reads format %d: use a matching version of credence or fit again", version.Format, Format)
	}
	var doc document
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return nil, fmt.Errorf("its description is damaged: %w", err)
	}
	if len(doc.Members) == 0 {
		return nil, errors.New("it holds no fit")
	}
	fitted := &credence.Fitted{
		Recipe: doc.Recipe, Report: doc.Report,
		TargetMean: doc.TargetMean, TargetVariance: doc.TargetVariance,
	}
	if doc.Frame != nil {
		if err := doc.Frame.Validate(); err != nil {
			return nil, err
		}
		fitted.Frame = doc.Frame
	}
	if doc.KeyedFrame != nil {
		if fitted.Frame != nil {
			return nil, errors.New("it has two frames")
		}
		fitted.Frame = doc.KeyedFrame
	}
	for i := range doc.Members {
		m, err := decodeMember(shelf{reader}, fmt.Sprintf("member.%d.", i), &doc, &doc.Members[i])
		if err != nil {
			return nil, err
		}
		fitted.Members = append(fitted.Members, m)
	}
	return fitted, nil
}

func decodeMember(s shelf, prefix string, doc *document, m *member) (credence.Member, error) {
	var none credence.Member
	if (m.Keyed != nil) != (doc.KeyedFrame != nil) && (doc.Frame != nil || doc.KeyedFrame != nil) {
		return none, errors.New("features and frame do not belong together")
	}
	if m.Keyed != nil {
		return decodeKeyedMember(s, prefix, m)
	}
	if f := doc.Frame; f != nil {
		if len(m.Inputs.Dense) != len(f.Inputs) || m.Inputs.Segment != f.Sparse {
			return none, fmt.Errorf("features of %d+%d inputs do not fit a frame of %d+%d",
				len(m.Inputs.Dense), m.Inputs.Segment, len(f.Inputs), f.Sparse)
		}
		for i := range f.Inputs {
			if f.Inputs[i].Kind != m.Inputs.Dense[i].Kind || len(f.Inputs[i].Levels) != len(m.Inputs.Dense[i].Levels) {
				return none, fmt.Errorf("input %s is one thing to the frame and another to the features", f.Inputs[i].Name)
			}
		}
	}
	var terms []feature.Term
	for i, p := range m.Terms {
		term, err := feature.ByKind(p.Kind)
		if err != nil {
			return none, err
		}
		if err := json.Unmarshal(p.Data, term); err != nil {
			return none, fmt.Errorf("term %d (%s): %w", i, p.Kind, err)
		}
		err = eachTensor(term, func(name string, field *[]float64) error {
			var err error
			*field, err = s.floats(fmt.Sprintf("%sfeatures.%d.%s", prefix, i, name), -1)
			return err
		})
		if err != nil {
			return none, err
		}
		terms = append(terms, term)
	}
	set, err := feature.New(m.Inputs, terms...)
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
	post, err := decodePosterior(s, prefix+"posterior.", m.Posterior, set.Weights())
	if err != nil {
		return none, err
	}
	return credence.Member{
		Model:     credence.Model{Features: set, Likelihood: lik, Prior: pri},
		Posterior: post,
	}, nil
}
