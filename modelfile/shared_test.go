package modelfile

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/safetensors"
)

// severalValues is the example with its first member at five values of a parameter: the covariance
// factor and the features are the same ones in memory.
func severalValues(t *testing.T) (*credence.Fitted, *credence.Batch) {
	fitted, batch := example(t)
	first := fitted.Members[0]
	full := first.Posterior.(*posterior.Full)
	fitted.Members = nil
	for k := range 5 {
		q := *full
		q.Mean = append([]float64(nil), full.Mean...)
		q.Mean[0] += float64(k)
		first.Model.Likelihood = likelihood.StudentT{DegreesOfFreedom: param.From(4 + float64(k)), Scale: param.From(0.5)}
		first.Posterior, first.Weight = &q, 0.2
		fitted.Members = append(fitted.Members, first)
	}
	return fitted, batch
}

// What members have in common is stored once, and is the same in memory again when it is read.
func TestMembersShare(t *testing.T) {
	fitted, batch := severalValues(t)
	file := encoded(t, fitted)
	d := fitted.Members[0].Model.Features.Weights()
	alone := *fitted
	alone.Members = []credence.Member{fitted.Members[0]}
	alone.Members[0].Weight = 0
	// Four more means, and a kilobyte each for the texts.
	if got, one := len(file), len(encoded(t, &alone)); got > one+4*(8*d+1024) || 8*d*d < 2*1024 {
		t.Errorf("five members with %d weights take %d bytes, one takes %d", d, got, one)
	}
	read := must.Value(Read(bytes.NewReader(file), int64(len(file)), DefaultParts()))(t)
	first := read.Members[0]
	for k, m := range read.Members {
		if !m.Posterior.(*posterior.Full).SameCovariance(first.Posterior) || m.Model.Features != first.Model.Features {
			t.Errorf("member %d has a covariance and features of its own", k)
		}
		if !reflect.DeepEqual(m.Posterior, fitted.Members[k].Posterior) || m.Weight != 0.2 {
			t.Errorf("member %d came back as %+v", k, m)
		}
	}
	if again := encoded(t, read); !bytes.Equal(again, file) {
		t.Error("writing what was read gives other bytes")
	}
	if want, got := predictions(t, fitted, batch), predictions(t, read, batch); !reflect.DeepEqual(want, got) {
		t.Errorf("predictions are %v, were %v", got, want)
	}
	// Copies in place of what is shared predict the same bits.
	for k := range fitted.Members {
		q := *fitted.Members[k].Posterior.(*posterior.Full)
		q.Factor = append([]float64(nil), q.Factor...)
		if q.SameCovariance(fitted.Members[k].Posterior) {
			t.Error("a copy is taken for the same")
		}
		fitted.Members[k].Posterior = &q
	}
	if want, got := predictions(t, fitted, batch), predictions(t, read, batch); !reflect.DeepEqual(want, got) {
		t.Errorf("predictions are %v, of copies %v", got, want)
	}
}

// Rows that two dual posteriors have in common are stored once, a part of a wider matrix is its own.
func TestDualsShareRows(t *testing.T) {
	fitted, _ := example(t)
	dual := *fitted.Members[1].Posterior.(*posterior.Dual)
	wide := dual
	matrix := linop.NewDense(2, dual.Design.Dense.Cols+1)
	wide.Design.Dense = matrix.Columns(1, dual.Design.Dense.Cols)
	for i := range 2 {
		copy(wide.Design.Dense.Row(i), dual.Design.Dense.Row(i))
	}
	fitted.Members[0].Posterior, fitted.Members[1].Posterior = &dual, &wide
	var read *credence.Fitted
	file := encoded(t, fitted)
	read, err := Read(bytes.NewReader(file), int64(len(file)), DefaultParts())
	if err != nil {
		t.Fatal(err)
	}
	one, two, sum := read.Members[0].Posterior.(*posterior.Dual), read.Members[1].Posterior.(*posterior.Dual), read.Members[2].Posterior.(*posterior.DualSum)
	if !reflect.DeepEqual(one, &dual) || !reflect.DeepEqual(two.Design, dual.Design) {
		t.Error("the rows came back as others")
	}
	if &one.Design.Dense.Data[0] != &sum.Design.Dense.Data[0] || &one.Design.Dense.Data[0] == &two.Design.Dense.Data[0] || &one.Factor[0] != &two.Factor[0] {
		t.Error("what is shared is not, or what is not is")
	}
}

// Numbers that begin at the same place are another tensor where their shape is another.
func TestTensorsOfOneBeginning(t *testing.T) {
	fitted, _ := severalValues(t)
	q := fitted.Members[0].Posterior.(*posterior.Full)
	q.Mean = q.Factor[:len(q.Mean)]
	file := encoded(t, fitted)
	read := must.Value(Read(bytes.NewReader(file), int64(len(file)), DefaultParts()))(t)
	if !reflect.DeepEqual(read.Members[0].Posterior, fitted.Members[0].Posterior) {
		t.Error("the posterior came back as another")
	}
}

// A document may say of any tensor that it is another.
func TestSharedTensorsAreChecked(t *testing.T) {
	fitted, _ := severalValues(t)
	for _, c := range []struct{ path, name, stored, want string }{
		{"shared", "member.1.posterior.covariance_factor", "member.9.posterior.mean", "tensor member.9.posterior.mean is missing"},
		{"shared", "member.1.posterior.covariance_factor", "member.0.posterior.mean", "has 1 dimensions, not 2"},
		{"shared", "member.0.posterior.mean", "member.0.posterior.covariance_factor", "has 2 dimensions, not 1"},
		{"features", "", "", "which is not before it"},
	} {
		metadata, tensors, err := encode(fitted, DefaultParts())
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		must.Succeed(t, json.Unmarshal([]byte(metadata[metadataKey]), &doc))
		if c.path == "shared" {
			doc["shared"].(map[string]any)[c.name] = c.stored
		} else {
			doc["members"].([]any)[2].(map[string]any)["features_of"] = 2
		}
		text := must.Value(json.Marshal(doc))(t)
		metadata[metadataKey] = string(text)
		var file bytes.Buffer
		must.Succeed(t, safetensors.Write(&file, metadata, tensors))
		if _, err := Read(bytes.NewReader(file.Bytes()), int64(file.Len()), DefaultParts()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}
