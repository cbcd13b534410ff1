package credence

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Values keep their order and their digits.
func TestValuesJSON(t *testing.T) {
	want := Report{Engine: "exact", Hyper: Values{{"variance", 0.1}, {`scale."a" ü`, 1e-300}, {"a", -3}}, HyperSD: Values{{"b", 2}}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s is read as %+v, error %v", text, got, err)
	}
	for _, bad := range []string{`{"hyper":{"a":"b"}}`, `{"hyper":{"a":1`, `{"hyper":7}`, `{"hyper":["a"]}`, `{"hyper":[{"name":"a","value":1}]}`} {
		if json.Unmarshal([]byte(bad), &got) == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
