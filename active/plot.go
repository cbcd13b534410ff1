package active

import (
	"fmt"
	"io"
	"slices"

	"github.com/credence-ml/credence/internal/chart"
)

// WriteSVG draws the learning curves of error and log loss: the mean of every score over its repeats, which stand behind it,
// what the labels of the whole pool come to, and where the advice to stop came.
func (s *Simulation) WriteSVG(out io.Writer) error {
	var names []Score
	for name := range s.Scores {
		names = append(names, name)
	}
	slices.Sort(names)
	repeats := 0
	picture := chart.Chart{}
	for _, of := range []struct {
		name string
		at   func(Point) float64
	}{{"error", func(p Point) float64 { return p.Error }}, {"log loss", func(p Point) float64 { return p.LogLoss }}} {
		line := func(points []Point) (l chart.Line) {
			for _, p := range points {
				l.X, l.Y = append(l.X, float64(p.Labels)), append(l.Y, of.at(p))
			}
			return l
		}
		panel := chart.Panel{X: "labels", Y: of.name, Levels: []chart.Level{{Name: fmt.Sprintf("all %d labels", s.Full.Labels), At: of.at(s.Full)}}}
		if s.Stop != nil && s.Stop.Labels > 0 {
			panel.Marks = append(panel.Marks, chart.Level{Name: "stop", At: float64(s.Stop.Labels)})
		}
		for _, name := range names {
			mean := line(s.Scores[name])
			series := chart.Series{Name: string(name), X: mean.X, Y: mean.Y}
			repeats = len(s.Repeats[name])
			for _, curve := range s.Repeats[name] {
				series.Behind = append(series.Behind, line(curve))
			}
			panel.Series = append(panel.Series, series)
		}
		picture.Panels = append(picture.Panels, panel)
	}
	picture.Title = fmt.Sprintf("Learning curves on rows outside the pool, %d repeats", repeats)
	_, err := picture.WriteTo(out)
	return err
}
