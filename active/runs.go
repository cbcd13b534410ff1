package active

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/internal/checkpoint"
)

// Simulation is the result of [Simulate].
type Simulation struct {
	Scores  map[Score][]Point   `json:"scores"`  // means over the repeats
	Repeats map[Score][][]Point `json:"repeats"` // each repeat; the scores of one share pool and first labels
	Full    Point               `json:"full"`    // with the labels of the whole pool, mean over the repeats
	Stop    *Stop               `json:"stop"`    // of the first score that is not random; nil if there is none
}

// runs are those made so far: the document of a checkpoint.
type runs struct {
	Full    []Point             `json:"full"`
	Curves  map[Score][][]Point `json:"curves"`
	Advices []Stop              `json:"advices,omitempty"`
}

// simulation returns the means over all repeats.
func (r *runs) simulation(pool int) *Simulation {
	out := &Simulation{Scores: map[Score][]Point{}, Repeats: r.Curves, Stop: middle(r.Advices)}
	for score, curves := range r.Curves {
		for k := range curves[0] {
			var points []Point
			for _, curve := range curves {
				points = append(points, curve[k])
			}
			out.Scores[score] = append(out.Scores[score], meanOf(points))
		}
	}
	out.Full = meanOf(r.Full)
	out.Full.Labels = pool
	return out
}

// meanOf returns the mean of points of the same number of labels.
func meanOf(points []Point) Point {
	out, audit, n := Point{Labels: points[0].Labels}, Audit{}, float64(len(points))
	for _, at := range points {
		out.Error += at.Error / n
		out.LogLoss += at.LogLoss / n
		if at.Audit != nil {
			audit.Rows += at.Audit.Rows
			audit.Error += at.Audit.Error * float64(at.Audit.Rows)
		}
	}
	if audit.Rows > 0 {
		audit.Error /= float64(audit.Rows)
		out.Audit = &audit
	}
	return out
}

// kind tells models, options and rows apart.
func (s *simulation) kind() (checkpoint.Kind, error) {
	options := s.Options
	options.Threads, options.Checkpoint = 0, "" // the result does not depend on them
	parts := []any{
		options, fmt.Sprint(s.model.Likelihood), fmt.Sprint(s.model.Prior), s.model.Features.Blocks(), s.all.X.Data,
		s.all.Target, s.all.Offset, s.all.Weight, s.all.Sparse.Index, s.all.Sparse.Value, s.all.Sparse.Start,
	}
	fingerprint, err := checkpoint.Fingerprint(parts...)
	return checkpoint.Kind{Name: "active simulate", Format: 1, Fingerprint: fingerprint}, err
}

// resume returns the runs of the checkpoint, none where there is no file.
func (s *simulation) resume() (*runs, error) {
	r := new(runs)
	if _, err := s.checkpoint().Resume(r, func() checkpoint.Vectors { return nil }); err != nil {
		return nil, err
	}
	if r.Curves == nil {
		r.Curves = map[Score][][]Point{}
	}
	return r, nil
}

// save replaces the checkpoint.
func (s *simulation) save(r *runs) error { return s.checkpoint().Save(r, nil) }

func (s *simulation) checkpoint() checkpoint.File {
	return checkpoint.File{Path: s.Checkpoint, Kind: s.kind}
}

// WriteSVG draws the learning curves of error and log loss: the mean of every score over its repeats, which stand
// behind it, what the labels of the whole pool come to, and where the advice to stop came.
func (s *Simulation) WriteSVG(out io.Writer) error {
	names := slices.Sorted(maps.Keys(s.Scores))
	repeats := 0
	picture := chart.Chart{}
	for _, of := range []struct {
		name string
		at   func(Point) float64
	}{{"error", func(p Point) float64 { return p.Error }}, {"log loss", func(p Point) float64 { return p.LogLoss }}} {
		line := func(points []Point, k int) chart.Mark {
			m := chart.Mark{Colour: k}
			for _, p := range points {
				m.X, m.Y = append(m.X, float64(p.Labels)), append(m.Y, of.at(p))
			}
			return m
		}
		panel := chart.Panel{X: chart.Axis{Name: "labels"}, Y: chart.Axis{Name: of.name}, Rules: []chart.Rule{{Name: fmt.Sprintf("all %d labels", s.Full.Labels), At: of.at(s.Full)}}}
		if s.Stop != nil && s.Stop.Labels > 0 {
			panel.Rules = append(panel.Rules, chart.Rule{Name: "stop", At: float64(s.Stop.Labels), Upright: true})
		}
		for k, name := range names {
			repeats = len(s.Repeats[name])
			for _, curve := range s.Repeats[name] {
				behind := line(curve, k)
				behind.Faint = true
				panel.Marks = append(panel.Marks, behind)
			}
			mean := line(s.Scores[name], k)
			mean.Name = string(name)
			panel.Marks = append(panel.Marks, mean)
		}
		picture.Panels = append(picture.Panels, panel)
	}
	picture.Title = "Learning curves on rows outside the pool, " + chart.Counted(repeats, "repeat")
	picture.Description = "Error and log loss against the number of labels, a line for each score: the mean over the repeats, which stand behind it."
	_, err := picture.WriteTo(out)
	return err
}
