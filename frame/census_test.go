package frame

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/table"
)

// testSegment is the number of rows of a segment in these tests.
const testSegment = 2048

// filedSource is a source of files that begin at these rows.
type filedSource struct {
	credence.Source
	begins []int
}

func (s filedSource) Files() []int { return s.begins }

// columns are those of a table, of which slices are shards with levels of their own.
type columns struct {
	x, dup, w, y []float64
	zip, class   []string
	id           []float64 // numbers that are taken as levels
}

func drawColumns(n int) *columns {
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	c := &columns{}
	for i := range n {
		x := 100 + 3*rng.NormFloat64()
		if rng.IntN(50) == 0 {
			x = math.NaN()
		}
		// Some levels occur in the last rows alone.
		zip := fmt.Sprint("z", rng.IntN(5)+3*(i/testSegment))
		if rng.IntN(60) == 0 {
			zip = ""
		}
		class := "no"
		if rng.IntN(3) == 0 {
			class = "maybe"
		}
		c.x, c.dup, c.zip, c.class = append(c.x, x), append(c.dup, x), append(c.zip, zip), append(c.class, class)
		c.w, c.y = append(c.w, rng.Float64()), append(c.y, rng.NormFloat64())
		c.id = append(c.id, float64(rng.IntN(4)+i/testSegment*10))
	}
	return c
}

func (c *columns) rows(t *testing.T, first, end int) credence.Source {
	t.Helper()
	source, err := table.New().Numbers("x", c.x[first:end]).Numbers("dup", c.dup[first:end]).Categories("zip", c.zip[first:end]).
		Categories("class", c.class[first:end]).Numbers("w", c.w[first:end]).Numbers("y", c.y[first:end]).Numbers("id", c.id[first:end]).Source()
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func (c *columns) plan(target string, weights bool) *Plan {
	y, w := Column(target), Column("w")
	p := &Plan{Target: &y, Inputs: []Expr{
		Column("zip"), Column("x"), Column("dup"), Column("x").With(Center).With(Square).With(Scale), Column(credence.TextOf("id")), Column("id").With(Weekday).AsLevel(),
	}, Offset: []Expr{Column("w").With(Center)}}
	if weights {
		p.Weight = &w
	}
	return p
}

// count adds rows [first, end) of a shard in chunks of odd sizes.
func count(t *testing.T, c *Census, source credence.Source, first, end, size int) {
	t.Helper()
	var chunk credence.Chunk
	for ; first < end; first += size {
		err := source.Read(&chunk, first, min(size, end-first))
		if err == nil {
			err = c.Add(&chunk)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// filed writes a census and reads it.
func filed(t *testing.T, c *Census) *Census {
	t.Helper()
	text := must.Value(json.Marshal(c))(t)
	read := &Census{}
	must.Succeed(t, json.Unmarshal(text, read))
	return read
}

// shardedFrame counts shards of the files that begin at the given rows, of which shard k begins with file firsts[k],
// merges them in the given order, and repeats that for every round.
func shardedFrame(t *testing.T, data *columns, plan func() *Plan, options Options, files, firsts, order []int) *Frame {
	t.Helper()
	files = append(slices.Clip(files), len(data.x))
	var merged *Census
	for {
		shards := make([]*Census, len(firsts))
		for k, first := range firsts {
			last := len(files) - 1
			if k+1 < len(firsts) {
				last = firsts[k+1]
			}
			source := data.rows(t, files[first], files[last])
			shard, err := newCensus(plan(), source.Schema(), first, testSegment, options)
			if err == nil && merged != nil {
				err = shard.Continue(merged)
			}
			if err != nil {
				t.Fatal(err)
			}
			added := 0
			for f := first; f < last; f++ {
				count(t, shard, source, added, added+files[f+1]-files[f], 700+37*k)
				added += files[f+1] - files[f]
				must.Succeed(t, shard.EndFile())
			}
			shards[k] = filed(t, shard)
		}
		merged = shards[order[0]]
		for _, k := range order[1:] {
			must.Succeed(t, merged.Merge(shards[k]))
		}
		more := must.Value(merged.Next())(t)
		if merged = filed(t, merged); more {
			continue
		}
		f := must.Value(merged.Frame())(t)
		return f
	}
}

// Shards that are counted apart, written, read and merged give the bytes of the whole, whichever levels they have.
func TestShardsGiveTheFrameOfTheWhole(t *testing.T) {
	const segment = testSegment
	data := drawColumns(3*segment + 1234)
	for _, c := range []struct {
		what    string
		target  string
		weights bool
		options Options
	}{
		{"numbers, weighted, indicators", "y", true, Options{Missing: Indicator}},
		{"classes, dropped rows", "class", false, Options{Missing: Drop}},
		{"classes, weighted", "class", true, Options{Missing: Mean, Positive: "maybe"}},
	} {
		plan := func() *Plan { return data.plan(c.target, c.weights) }
		files := []int{0, 500, 500, segment + 512, 3*segment + 1, 3*segment + 1234}
		whole := shardedFrame(t, data, plan, c.options, files, []int{0}, []int{0})
		if n := len(whole.Inputs[0].Levels); n < 14 {
			t.Fatalf("%s: the whole has %d levels", c.what, n)
		}
		for _, shards := range []struct{ begins, order []int }{
			{[]int{0, 1, 2, 3, 4, 5}, []int{0, 1, 2, 3, 4, 5}},
			{[]int{0, 2, 5}, []int{2, 0, 1}},
			{[]int{0, 4}, []int{0, 1}},
		} {
			f := shardedFrame(t, data, plan, c.options, files, shards.begins, shards.order)
			if f.Fingerprint() != whole.Fingerprint() {
				got, _ := json.Marshal(f)
				want, _ := json.Marshal(whole)
				t.Errorf("%s, shards from files %v on, merged in the order %v:\n%s, want\n%s", c.what, shards.begins, shards.order, got, want)
			}
		}
	}
}

// Two files of the product's own segments, the first of two, give what Fit gives.
func TestTwoShardsAreFit(t *testing.T) {
	data := drawColumns(credence.SegmentRows + 1234)
	plan := data.plan("class", true)
	plan.Inputs, plan.Offset = plan.Inputs[:2], nil
	const middle = credence.SegmentRows + 17
	whole := must.Value(Fit(context.Background(), plan, filedSource{data.rows(t, 0, len(data.x)), []int{0, middle}}, Options{Missing: Mean}))(t)
	var merged *Census
	for k, rows := range [][2]int{{0, middle}, {middle, len(data.x)}} {
		source := data.rows(t, rows[0], rows[1])
		shard := must.Value(NewCensus(plan, source.Schema(), k, Options{Missing: Mean}))(t)
		must.Succeed(t, shard.AddAll(context.Background(), source))
		if merged == nil {
			merged = shard
		} else if err := merged.Merge(shard); err != nil {
			t.Fatal(err)
		}
	}
	f := must.Value(merged.Frame())(t)
	if f.Fingerprint() != whole.Fingerprint() {
		t.Errorf("merged %+v, want %+v", f, whole)
	}
}

func TestCensusRefuses(t *testing.T) {
	data := drawColumns(1010)
	plan := data.plan("y", false)
	plan.Inputs, plan.Offset = plan.Inputs[:2], nil
	shard := func(plan *Plan, file, rows int) *Census {
		source := data.rows(t, 0, rows)
		c := must.Value(NewCensus(plan, source.Schema(), file, Options{Missing: Mean}))(t)
		count(t, c, source, 0, rows, credence.BlockRows)
		return c
	}
	check := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error reads %v, want %q", err, want)
		}
	}
	_, err := NewCensus(plan, data.rows(t, 0, 1).Schema(), -1, Options{})
	check(err, "frame: there is no file -1")
	first := shard(plan, 0, 1000)
	check(first.Merge(shard(plan, 0, 1000)), "both censuses have file 1")
	other := *plan
	other.Inputs = plan.Inputs[:1]
	check(first.Merge(shard(&other, 1, 10)), "the census of another model")
	must.Succeed(t, first.Merge(shard(plan, 2, 10)))
	_, err = first.Frame()
	check(err, "the census lacks files before file 3")
	_, err = shard(plan, 1, 10).Frame()
	check(err, "the census lacks files before file 2")
	var chunk credence.Chunk
	source := data.rows(t, 0, 10)
	must.Succeed(t, source.Read(&chunk, 5, 5))
	c := must.Value(NewCensus(plan, source.Schema(), 0, Options{}))(t)
	check(c.Add(&chunk), "the census has the rows up to 0, and cannot add those from 6 on")
	check(filed(t, c).Add(&chunk), "a census that was read from a file takes no rows")
	centred := data.plan("y", false)
	c, err = NewCensus(centred, source.Schema(), 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Frame()
	check(err, "the census has another round to go")
}

// Files of a census are checked before they are used.
func TestDamagedCensus(t *testing.T) {
	data := drawColumns(2000)
	c := must.Value(NewCensus(data.plan("class", true), data.rows(t, 0, 2000).Schema(), 0, Options{Missing: Mean}))(t)
	for { // to the last round
		count(t, c, data.rows(t, 0, 2000), 0, 2000, 512)
		text := must.Value(json.Marshal(c))(t)
		for _, change := range []struct{ from, to string }{
			{`"frame":{`, `"frame":null,"x":{`}, {`"first":0`, `"first":-1`}, {`"position":0`, `"position":-3`}, {`"height"`, `"height"`},
			{`"counts":[`, `"counts":[1,2,3,4,5,6,7,8,9,10,11,12,`}, {`"values":[`, `"values":[17,`}, {`"levels":{`, `"levels":{},"x":{`},
			{`"inputs":[{"count"`, `"inputs":[],"x":[{"count"`}, {`"steps":[{"count"`, `"steps":[],"x":[{"count"`}, {`"next":1`, `"next":-1`},
		} {
			damaged := strings.Replace(string(text), change.from, change.to, 1)
			if damaged == string(text) {
				continue
			}
			if err := json.Unmarshal([]byte(damaged), &Census{}); err == nil {
				t.Errorf("%s in place of %s is read", change.to, change.from)
			}
		}
		more := must.Value(c.Next())(t)
		if !more {
			return
		}
	}
}

// TestSumsOverSegments: what a census learns of rows of many segments is what the rows say by the definitions: the
// means and deviations of steps, and then those of inputs and of the target, the level of most weight, and the
// counts. A census that continues behind the first round says the same.
func TestSumsOverSegments(t *testing.T) {
	const n, segment = 1100, 64
	source := numbers([]string{"y", "g", "a", "b", "w"}).with("g", "p", "q", "r")
	rng := rand.New(rand.NewPCG(8, 1))
	var a, b, y, w []float64
	weights := [3]float64{}
	for i := range n {
		row := []float64{rng.NormFloat64(), float64(rng.IntN(3)), 5 + rng.NormFloat64(), 7 * rng.Float64(), float64(rng.IntN(3))}
		a, b, y, w = append(a, row[2]), append(b, row[3]), append(y, row[0]), append(w, row[4])
		weights[int(row[1])] += row[4]
		if i%100 == 99 {
			weights[int(row[1])] -= row[4]
			row[1] = nan
		}
		source.rows = append(source.rows, row)
	}
	plan := &Plan{Target: target("y"), Weight: target("w"), Offset: []Expr{Column("b").With(Center)},
		Inputs: []Expr{Column("a").With(Center), Column("g"), Column("b").With(Scale), Column("a")}}
	c := must.Value(newCensus(plan, source.Schema(), 0, segment, Options{Missing: Mean}))(t)
	apart := must.Value(newCensus(plan, source.Schema(), 0, segment, Options{Missing: Mean}))(t)
	for more := true; more; {
		if count(t, c, source, 0, n, 130); c.round == 1 {
			must.Succeed(t, apart.Continue(c))
			count(t, apart, source, 0, n, 99)
		}
		more = must.Value(c.Next())(t)
	}
	f := must.Value(c.Frame())(t)
	must.Value(apart.Next())(t)
	if other := must.Value(apart.Frame())(t); other.Fingerprint() != f.Fingerprint() {
		t.Errorf("a census that continues gives\n%+v, want\n%+v", other, f)
	}
	close := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	ma, va := stat.PopMeanVariance(a, w)
	mb, vb := stat.PopMeanVariance(b, w)
	my, vy := stat.PopMeanVariance(y, w)
	close("the mean of center(a)", f.Inputs[0].Expr.Steps[0].Mean, ma)
	close("the mean of scale(b)", f.Inputs[2].Expr.Steps[0].Mean, mb)
	close("the deviation of scale(b)", f.Inputs[2].Expr.Steps[0].SD, math.Sqrt(vb))
	close("the mean of the offset", f.Offset[0].Steps[0].Mean, mb)
	close("the centre of center(a)", f.Inputs[0].Center, 0)
	close("the scale of center(a)", f.Inputs[0].Scale, math.Sqrt(va))
	close("the scale of scale(b)", f.Inputs[2].Scale, 1)
	close("the centre of a", f.Inputs[3].Center, ma)
	close("the mean of the target", f.Target.Mean, my)
	close("the variance of the target", f.Target.Variance, vy)
	close("the sum of weights", f.WeightSum, weightsOf(w))
	if most := slices.Index(weights[:], slices.Max(weights[:])); f.Inputs[1].Fill != float64(most) {
		t.Errorf("level %v fills, of weights %v", f.Inputs[1].Fill, weights)
	}
	if want := []string{"input g: 11 missing values are filled with level " + f.Inputs[1].Levels[int(f.Inputs[1].Fill)]}; f.Rows != n || !slices.Equal(f.Remarks, want) {
		t.Errorf("%d rows, %q, want %q", f.Rows, f.Remarks, want)
	}
}

// weightsOf returns the sum of weights.
func weightsOf(w []float64) (sum float64) {
	for _, v := range w {
		sum += v
	}
	return sum
}
