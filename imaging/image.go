package imaging

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/internal/order"
)

// Image is Height×Width numbers, row by row.
type Image struct {
	Height, Width int
	Values        []float64
}

// Read reads a .png file, whose grey levels become numbers from 0 to 1, or a .npy file of two dimensions, whose
// numbers stay as they are.
func Read(path string) (*Image, error) {
	content, err := readFile(path)
	if err != nil {
		return nil, named(path, err)
	}
	var out *Image
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".npy":
		var shape []int
		out = &Image{}
		if shape, out.Values, err = decodeNPY(content); err == nil && len(shape) != 2 {
			err = fmt.Errorf("the array has %d dimensions, an image has 2", len(shape))
		}
		if err == nil {
			out.Height, out.Width = shape[0], shape[1]
		}
	case ".png":
		out, err = decodePNG(content)
	default:
		err = fmt.Errorf("images are read from .png and .npy files, not %q", ext)
	}
	if err == nil && len(out.Values) == 0 {
		err = fmt.Errorf("the image is empty")
	}
	if err != nil {
		return nil, named(path, err)
	}
	return out, nil
}

// decodePNG reads grey levels; colours are averaged as the eye does.
func decodePNG(content []byte) (*Image, error) {
	config, err := png.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	if config.Width > mostNumbers/max(1, config.Height) {
		return nil, fmt.Errorf("the image has %d×%d pixels, at most %d are read", config.Height, config.Width, mostNumbers)
	}
	decoded, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	bounds := decoded.Bounds()
	out := &Image{Height: bounds.Dy(), Width: bounds.Dx()}
	for i := bounds.Min.Y; i < bounds.Max.Y; i++ {
		for j := bounds.Min.X; j < bounds.Max.X; j++ {
			grey := color.Gray16Model.Convert(decoded.At(j, i)).(color.Gray16)
			out.Values = append(out.Values, float64(grey.Y)/math.MaxUint16)
		}
	}
	return out, nil
}

// Write writes a .npy file, or a .png file of 16 bits whose black is low and whose white is high.
func (m *Image) Write(path string, low, high float64) error {
	var content bytes.Buffer
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".npy":
		return WriteArray(path, []int{m.Height, m.Width}, m.Values)
	case ".png":
		if !(low < high) {
			return fmt.Errorf("%s: black at %v is not below white at %v", path, low, high)
		}
		grey := image.NewGray16(image.Rect(0, 0, m.Width, m.Height))
		for i, v := range m.Values {
			level := math.Round(math.MaxUint16 * math.Min(1, math.Max(0, (v-low)/(high-low))))
			grey.SetGray16(i%m.Width, i/m.Width, color.Gray16{Y: uint16(level)})
		}
		if err := png.Encode(&content, grey); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	default:
		return fmt.Errorf("%s: images are written to .png and .npy files, not %q", path, ext)
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := content.WriteTo(w)
		return err
	})
}

// PSNR is the peak signal-to-noise ratio of an estimate in decibels, the peak being the largest number of the
// truth; NaN of images of unequal sizes.
func PSNR(estimate, truth []float64) float64 {
	if len(estimate) != len(truth) {
		return math.NaN()
	}
	square, peak := 0.0, 0.0
	for i, v := range truth {
		square += (estimate[i] - v) * (estimate[i] - v) / float64(len(truth))
		peak = math.Max(peak, v)
	}
	return 10 * math.Log10(peak*peak/square)
}

// RankCorrelation is Spearman's, of an error map with the distances of an estimate from the truth; equal numbers
// stand in the order of the pixels. It is NaN of images of unequal sizes.
func RankCorrelation(deviation, estimate, truth []float64) float64 {
	if len(deviation) != len(truth) || len(estimate) != len(truth) {
		return math.NaN()
	}
	distance := make([]float64, len(truth))
	for i, v := range truth {
		distance[i] = math.Abs(estimate[i] - v)
	}
	return stat.Correlation(ranks(deviation), ranks(distance), nil)
}

func ranks(x []float64) []float64 {
	out := make([]float64, len(x))
	for rank, i := range order.By(len(x), func(a, b int) int { return cmp.Compare(x[a], x[b]) }) {
		out[i] = float64(rank)
	}
	return out
}
