package modelfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/safetensors"
)

// Load reads a fit of [DefaultParts] from a file; see [LoadWith].
func Load(path string) (*credence.Fitted, error) { return LoadWith(path, DefaultParts()) }

// LoadWith reads a fit from a file. An error names the file, what is wrong with it,
// and what to do.
func LoadWith(path string, parts Parts) (*credence.Fitted, error) {
	reader, err := safetensors.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing{path}
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%s cannot be read: %w: ask its owner for the permission", path, fs.ErrPermission)
	case errors.Is(err, safetensors.ErrNotRegular):
		return nil, fmt.Errorf("%s is not a model file but a folder, a pipe or a device: copy the model to a file first", path)
	case err != nil && startsAsText(path):
		return nil, fmt.Errorf("%s is not a model file but a table or another text: name the model first and the data behind it", path)
	case err != nil:
		return nil, unreadable{path, err, ": restore it from a copy or fit again"}
	}
	defer reader.Close()
	fitted, err := decode(reader, parts)
	if err != nil {
		return nil, unreadable{path, err, ""}
	}
	return fitted, nil
}

// startsAsText says whether a file begins as a table does, with letters and digits where a model file has
// the length of its header.
func startsAsText(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // a pipe would wait
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 8)
	if _, err := io.ReadFull(f, head); err != nil {
		return false
	}
	return !slices.ContainsFunc(head, func(b byte) bool { return b < ' ' && b != '\n' && b != '\r' && b != '\t' })
}

// missing is the error of a file that is not there. It is fs.ErrNotExist to errors.Is,
// and says so once.
type missing struct{ path string }

func (m missing) Error() string {
	return fmt.Sprintf("%s: there is no such file: check the path", m.path)
}

func (m missing) Is(target error) bool { return target == fs.ErrNotExist }

// unreadable is the error of a file that is no model.
type unreadable struct {
	path   string
	err    error
	remedy string
}

func (u unreadable) Error() string {
	return fmt.Sprintf("%s is not a model file that can be read: %s%s", u.path, safetensors.Reason(u.path, u.err), u.remedy)
}

func (u unreadable) Unwrap() error { return u.err }

// Read reads a fit of the given size in bytes.
func Read(source io.ReaderAt, size int64, parts Parts) (*credence.Fitted, error) {
	reader, err := safetensors.NewReader(source, size)
	if err != nil {
		return nil, fmt.Errorf("modelfile: %w", err)
	}
	fitted, err := decode(reader, parts)
	if err != nil {
		return nil, fmt.Errorf("modelfile: %w", err)
	}
	return fitted, nil
}

func decode(file *safetensors.Reader, parts Parts) (*credence.Fitted, error) {
	text, found := file.Metadata()[metadataKey]
	if !found {
		return nil, errors.New("it is a safetensors file of another program: give one that credence wrote")
	}
	if err := file.Verify(); err != nil {
		return nil, err
	}
	return assemble(file, []byte(text), parts)
}

// assemble makes the fit that a document describes, with the tensors of a file.
func assemble(file *safetensors.Reader, text []byte, parts Parts) (*credence.Fitted, error) {
	doc, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	if len(doc.Members) == 0 {
		return nil, errors.New("it holds no fit")
	}
	fitted := &credence.Fitted{
		Recipe: doc.Recipe, Report: doc.Report,
		TargetMean: doc.TargetMean, TargetVariance: doc.TargetVariance, Selection: doc.Selection, Calibration: doc.Calibration, Family: doc.Family,
	}
	switch {
	case doc.Frame != nil && doc.KeyedFrame != nil:
		return nil, errors.New("it has two frames")
	case doc.Frame != nil:
		if err := doc.Frame.Validate(); err != nil {
			return nil, err
		}
		fitted.Frame = doc.Frame
	case doc.KeyedFrame != nil:
		if err := doc.KeyedFrame.Plan.Validate(); err != nil {
			return nil, err
		}
		fitted.Frame = doc.KeyedFrame
	}
	d := decoder{tensorReader: newTensorReader(file, doc.Shared), parts: parts, inputs: doc.inputs()}
	for i := range doc.Members {
		if d.keyedFrame = doc.KeyedFrame != nil; doc.Frame == nil && !d.keyedFrame {
			d.keyedFrame = doc.Members[i].Keyed != nil // without a frame, either may be
		}
		m, err := d.member(fmt.Sprintf("member.%d.", i), &doc.Members[i], fitted.Members)
		if err != nil {
			return nil, err
		}
		fitted.Members = append(fitted.Members, m)
	}
	if fitted.Family != nil {
		weights := fitted.Members[0].Model.Features.Weights()
		if err := d.fields("family.", fitted.Family, sizes{"d": weights}); err != nil {
			return nil, err
		}
		if err := fitted.Family.Validate(weights); err != nil {
			return nil, err
		}
	}
	if fitted.Calibration != nil {
		if err := d.fields("calibration.", fitted.Calibration, sizes{}); err != nil {
			return nil, err
		}
		if err := fitted.Calibration.Validate(); err != nil {
			return nil, err
		}
	}
	return fitted, fitted.CheckWeights()
}

// parseDocument reads the JSON of the formats that are read, and refuses that of any other.
func parseDocument(text []byte) (*document, error) {
	var version struct {
		Format int `json:"format"`
	}
	doc := new(document)
	err := json.Unmarshal(text, &version)
	switch {
	case err != nil:
	case version.Format < earliest:
		return nil, fmt.Errorf("it has format %d and this version reads formats %d to %d: fit again", version.Format, earliest, Format)
	case version.Format > Format:
		return nil, fmt.Errorf("it has format %d and this version reads formats %d to %d: use a newer version of credence or fit again", version.Format, earliest, Format)
	default:
		err = json.Unmarshal(text, doc)
		doc.Recipe.Partial = doc.Recipe.Partial || version.Format == 4
	}
	if err != nil {
		return nil, fmt.Errorf("its description is damaged: %w", err)
	}
	return doc, nil
}

// decoder makes members from a document.
type decoder struct {
	tensorReader
	parts      Parts
	inputs     feature.Inputs
	keyedFrame bool
}

func (d *decoder) member(prefix string, m *member, before []credence.Member) (credence.Member, error) {
	var none credence.Member
	var model credence.Model
	var err error
	switch of := m.FeaturesOf; {
	case of != nil && (*of < 0 || *of >= len(before) || m.Keyed != nil || m.Terms != nil):
		return none, fmt.Errorf("the features of member %d are those of member %d, which is not before it", len(before)+1, *of+1)
	case of != nil:
		model.Features = before[*of].Model.Features
	case (m.Keyed != nil) != d.keyedFrame:
		return none, errors.New("features and frame do not belong together")
	case m.Keyed != nil:
		model.Features, err = d.keyed(prefix, m.Keyed)
	default:
		model.Features, err = d.set(prefix, m.Terms)
	}
	if err != nil {
		return none, err
	}
	family, err := decodePart("likelihood", byName(d.parts.Families), m.Likelihood)
	if err == nil {
		err = validate(family)
	}
	if err != nil {
		return none, err
	}
	prior, err := decodePart("prior", byName(d.parts.Priors), m.Prior)
	if err == nil {
		err = validate(prior)
	}
	if err != nil {
		return none, err
	}
	model.Likelihood, model.Prior = family, prior
	q, err := decodePart("posterior", byKind(d.parts.Posteriors), m.Posterior)
	if err == nil {
		err = d.fields(prefix+"posterior.", q, sizes{"d": model.Features.Weights()})
	}
	if err == nil {
		err = q.Validate()
	}
	if err == nil && q.Weights() != model.Features.Weights() {
		err = fmt.Errorf("posterior %s is of %d weights, and the features have %d", m.Posterior.Kind, q.Weights(), model.Features.Weights())
	}
	if c, ok := q.(interface{ Centred() bool }); err == nil && ok && c.Centred() {
		if blocks := model.Features.Blocks(); len(blocks) == 0 || !blocks[0].Intercept {
			err = fmt.Errorf("posterior %s has a centre, and the first weight is no intercept", m.Posterior.Kind)
		}
	}
	return credence.Member{Model: model, Posterior: q, Weight: m.Weight}, err
}

// set makes features of terms.
func (d *decoder) set(prefix string, parts []part) (credence.Features, error) {
	var terms []feature.Term
	for i, p := range parts {
		term, err := decodePart("term", byKind(d.parts.Terms), p)
		if err == nil {
			err = d.fields(fmt.Sprintf("%sfeatures.%d.", prefix, i), term, termSizes(term, &d.inputs))
		}
		if err != nil {
			return nil, err
		}
		terms = append(terms, term)
	}
	return feature.New(d.inputs, terms...)
}
