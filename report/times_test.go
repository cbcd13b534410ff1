package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
)

// TestPageHasAFieldForTimes: the script has a field that takes a time of day.
func TestPageHasAFieldForTimes(t *testing.T) {
	if !strings.Contains(pageScript, "datetime-local") {
		t.Error("columns of times are filled in by fields of type date, which hold no time of day")
	}
}

// TestFormTakesTimesInBrowser: in a browser the form takes a time of day, and draws where it stands.
func TestFormTakesTimesInBrowser(t *testing.T) {
	text := "t,y\n"
	begin := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 480 {
		at := begin.Add(time.Duration(i) * time.Hour)
		text += fmt.Sprintf("%s,%d\n", at.Format("2006-01-02 15:04:05"), 10*at.Hour()+i%3)
	}
	data := must.Value(dataset.Open(t.Context(), []string{"-"}, dataset.Options{Stdin: strings.NewReader(text)}))(t)
	defer data.Close()
	rows := must.Value(data.Load(t.Context(), nil))(t)
	page, _ := written(t, Input{Models: []Model{{"m", scorerOf(t, rows, fit.Options{Formula: "y ~ hour(t)"})}}, Rows: rows})
	var told struct {
		Kept, Midnight, Afternoon string
		Upright                   int
	}
	inBrowser(t, page, `const f = document.querySelector('#form input'), at = id => document.getElementById(id);
const set = v => { f.value = v; f.dispatchEvent(new Event('input')); return at('answer').textContent; };
const midnight = set(f.type === 'date' ? '2024-01-10' : '2024-01-10T00:00'), upright = document.querySelectorAll('#curve .here').length;
const afternoon = set('2024-01-10T13:00');
return {kept: f.value, midnight, afternoon, upright};`, &told)
	if !strings.HasPrefix(told.Kept, "2024-01-10T13:00") || told.Midnight == told.Afternoon || strings.Contains(told.Afternoon, "No prediction") {
		t.Errorf("the field keeps %q: %q at midnight, %q at one", told.Kept, told.Midnight, told.Afternoon)
	}
	if told.Upright != 1 {
		t.Errorf("%d lines stand where the row that is filled in is", told.Upright)
	}
}
