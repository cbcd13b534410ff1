package credence

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Values keep their order and their digits, and are read from the list that older model files have.
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
	old := `{"engine":"exact","hyper":[{"name":"variance","value":0.1},{"name":"scale.\"a\" ü","value":1e-300},{"name":"a","value":-3}],"hyper_sd":{"b":2}}`
	if got = (Report{}); json.Unmarshal([]byte(old), &got) != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the list is read as %+v", got)
	}
	for _, bad := range []string{`{"hyper":{"a":"b"}}`, `{"hyper":{"a":1`, `{"hyper":7}`, `{"hyper":["a"]}`} {
		if json.Unmarshal([]byte(bad), &got) == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
