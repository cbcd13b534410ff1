package modelfile

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
)

// The files of testdata/format1 were written by the last version of format 1 (fit, stream, and
// predict --latent --interval 0.9): NAME.safetensors, and NAME.csv with its predictions of new.csv
// or, of the models sep and stream, of the libsvm rows
//
//	1 1:1 3:2 7:0.5
//	-1 2:1 99:3
//
// of which training had the columns 1 to 11. Those of testdata/format2 are the same models, written by
// the last version of format 2, and that of testdata/format3 is of the last version of format 3, whose draws have no mean.

// records returns the columns of a file by their names.
func records(t *testing.T, name string) map[string][]string {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "format1", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]string{}
	for j, name := range rows[0] {
		for _, row := range rows[1:] {
			columns[name] = append(columns[name], row[j])
		}
	}
	return columns
}

// newRows are the rows of new.csv, or the libsvm rows, as a frame wants them.
type newRows struct {
	schema credence.Schema
	values map[string][]string
	sparse bool
}

func (s *newRows) Schema() *credence.Schema { return &s.schema }

func (s *newRows) Rows() int {
	if s.sparse {
		return 2
	}
	return len(s.values["x"])
}

func (s *newRows) Read(dst *credence.Chunk, first, count int) error {
	dst.First = first
	dst.Values.Reshape(count, len(s.schema.Columns))
	for j, column := range s.schema.Columns {
		for i := range count {
			text := s.values[column.Name][first+i]
			if column.Kind == credence.Category {
				dst.Values.Row(i)[j] = float64(slices.Index(column.Levels, text))
			} else if v, err := strconv.ParseFloat(text, 64); err == nil {
				dst.Values.Row(i)[j] = v
			}
		}
	}
	dst.Sparse.Reset(s.schema.Sparse)
	if s.sparse {
		dst.Sparse.AppendRow([]int32{0, 2, 6}, []float64{1, 2, 0.5})
		dst.Sparse.AppendRow([]int32{1}, []float64{1})
		dst.Unseen = []float64{0, 9}
	}
	return nil
}

// newBatch returns the rows that the predictions are of.
func newBatch(t *testing.T, fitted *credence.Fitted) *credence.Batch {
	t.Helper()
	var batch credence.Batch
	if fr, ok := fitted.Frame.(*frame.Frame); ok {
		source := &newRows{values: records(t, "new.csv"), sparse: fr.Sparse > 0}
		source.schema.Sparse = fr.Sparse
		if !source.sparse {
			for _, column := range fr.Columns() {
				if slices.Contains(fr.Needs(false), column.Name) {
					source.schema.Columns = append(source.schema.Columns, column)
				}
			}
		}
		data, err := fr.Bind(source, frame.IgnoreTargets)
		if err != nil {
			t.Fatal(err)
		}
		if err := data.Read(&batch, 0, data.Rows()); err != nil {
			t.Fatal(err)
		}
		return &batch
	}
	features := fitted.Members[0].Model.Features.(*keyed.Features)
	batch.X.Reshape(2, 0)
	batch.Sparse = linop.CSR{Cols: len(features.Keys)}
	slot := func(name string) int32 {
		for i := range features.Keys {
			if features.Name(i) == name {
				return int32(i)
			}
		}
		t.Fatalf("there is no key %s", name)
		return 0
	}
	batch.Sparse.AppendRow([]int32{slot("x1"), slot("x3"), slot("x7")}, []float64{1, 2, 0.5})
	batch.Sparse.AppendRow([]int32{slot("x2")}, []float64{1})
	batch.Unseen = []float64{0, 9} // x99:3
	return &batch
}

// Models of older formats predict what they predicted, bit for bit; quantiles of mixtures, which are
// found by iteration, to 1e-10: distribution functions of counts and waiting times are good to about as many digits. Written again they are of this format, and predict the same.
func TestOlderFormats(t *testing.T) {
	files, err := filepath.Glob("testdata/format[123]/*.safetensors")
	if err != nil || len(files) != 16 {
		t.Fatalf("%d models of formats 1 to 3, error %v", len(files), err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".safetensors")
		t.Run(filepath.Base(filepath.Dir(path))+"/"+name, func(t *testing.T) {
			fitted, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			again := filepath.Join(t.TempDir(), "again")
			if err := Save(again, fitted); err != nil {
				t.Fatal(err)
			}
			rewritten, err := Load(again)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(rewritten, fitted) {
				t.Error("written and read again it is another model")
			}
			predictsAsRecorded(t, rewritten, records(t, name+".csv"))
		})
	}
}

// What was stated in format 1 is held, and what was learned is learned.
func TestFormat1Parameters(t *testing.T) {
	fitted, err := Load("testdata/format1/full.safetensors") // studentt(df=4)
	if err != nil {
		t.Fatal(err)
	}
	family := fitted.Members[0].Model.Likelihood.(likelihood.StudentT)
	if family.DegreesOfFreedom != param.Hold(4) || family.Scale.State != param.Learned || !(family.Scale.Value > 0.5 && family.Scale.Value < 1) {
		t.Errorf("the family is %+v", family)
	}
}

func predictsAsRecorded(t *testing.T, fitted *credence.Fitted, want map[string][]string) {
	t.Helper()
	dist, err := fitted.Distribution(credence.NewWorkspace(1), newBatch(t, fitted))
	if err != nil {
		t.Fatal(err)
	}
	if dist.Rows() != len(want["mean"]) {
		t.Fatalf("%d rows predicted, %d recorded", dist.Rows(), len(want["mean"]))
	}
	// Grades are counted from 0 here, and named in the file.
	graded := fitted.Recipe.Family == "ordinal"
	for i := range dist.Rows() {
		same := func(column string, got float64) {
			if text := strconv.FormatFloat(got, 'g', -1, 64); text != want[column][i] {
				t.Errorf("%s of row %d is %s, was %s", column, i+1, text, want[column][i])
			}
		}
		mean, variance := dist.Latent(i)
		same("f_mean", mean)
		same("f_sd", math.Sqrt(variance))
		if graded {
			continue
		}
		mean, variance = dist.Moments(i)
		same("mean", mean)
		same("sd", math.Sqrt(variance))
		for column, p := range map[string]float64{"lower": 0.05, "upper": 0.95} {
			was, err := strconv.ParseFloat(want[column][i], 64)
			if got := dist.Quantile(i, p); err != nil || math.Abs(got-was) > 1e-10*math.Abs(was) {
				t.Errorf("%s of row %d is %v, was %v (%v)", column, i+1, got, was, err)
			}
		}
	}
}
