package imaging

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/credence-ml/credence/internal/atomicfile"
)

// The .npy format of NumPy (NEP 1): a magic text, two bytes of version, the length of a header, the header as a
// Python dictionary, and the numbers.
const npyMagic = "\x93NUMPY"

var (
	npyDescr   = regexp.MustCompile(`'descr': *'([^']*)'`)
	npyFortran = regexp.MustCompile(`'fortran_order': *(True|False)`)
	npyShape   = regexp.MustCompile(`'shape': *\(([0-9, ]*)\)`)
)

// npyTypes are the types of numbers that are read, by size and what takes one.
var npyTypes = map[string]struct {
	size int
	take func(b []byte) float64
}{
	"<f8": {8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }},
	"<f4": {4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }},
	"<u2": {2, func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) }},
	"|u1": {1, func(b []byte) float64 { return float64(b[0]) }},
	"|b1": {1, func(b []byte) float64 { return float64(b[0]) }},
}

// mostNumbers bounds files that are read.
const mostNumbers = 1 << 26

// ReadArray reads a .npy file of finite numbers: float64, float32, uint16, uint8 or bool, little-endian, row by
// row.
func ReadArray(path string) (shape []int, values []float64, err error) {
	content, err := readFile(path)
	if err == nil {
		shape, values, err = decodeNPY(content)
	}
	if err != nil {
		return nil, nil, named(path, err)
	}
	return shape, values, nil
}

// readFile reads a file that may be a pipe without end.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	const most = 8*mostNumbers + 1<<17
	content, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && len(content) > most {
		err = fmt.Errorf("the file has more than %d bytes", most)
	}
	return content, err
}

// named says which file an error is of, once.
func named(path string, err error) error {
	var of *os.PathError
	if errors.As(err, &of) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

func decodeNPY(content []byte) (shape []int, values []float64, err error) {
	if len(content) < 12 || string(content[:6]) != npyMagic {
		return nil, nil, fmt.Errorf("it is no .npy file: save it by numpy.save")
	}
	length, first := int(binary.LittleEndian.Uint16(content[8:])), 10
	if content[6] > 1 {
		length, first = int(binary.LittleEndian.Uint32(content[8:])), 12
	}
	if length > len(content)-first {
		return nil, nil, fmt.Errorf("the file ends in its header")
	}
	header, data := string(content[first:first+length]), content[first+length:]
	descr, fortran, dims := npyDescr.FindStringSubmatch(header), npyFortran.FindStringSubmatch(header), npyShape.FindStringSubmatch(header)
	if descr == nil || fortran == nil || dims == nil {
		return nil, nil, fmt.Errorf("the header %.60q tells no type, order and shape", header)
	}
	kind, known := npyTypes[descr[1]]
	if !known || fortran[1] == "True" {
		return nil, nil, fmt.Errorf("numbers of type %s, fortran_order %s, are not read: save numpy.ascontiguousarray(a, '<f8')", descr[1], fortran[1])
	}
	// The shape may say anything; what counts is how many numbers follow.
	count := len(data) / kind.size
	left := count
	for part := range strings.SplitSeq(dims[1], ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		size, err := strconv.Atoi(part)
		if err != nil || size > mostNumbers || size == 0 && count > 0 || size > 0 && left%size != 0 {
			return nil, nil, fmt.Errorf("the shape (%s) is not that of the %d numbers in the file", dims[1], count)
		}
		shape = append(shape, size)
		left /= max(1, size)
	}
	if left > 1 || len(data)%kind.size != 0 {
		return nil, nil, fmt.Errorf("the shape (%s) is not that of the %d bytes in the file", dims[1], len(data))
	}
	values = make([]float64, count)
	for i := range values {
		values[i] = kind.take(data[i*kind.size:])
		if math.IsNaN(values[i]) || math.IsInf(values[i], 0) {
			return nil, nil, fmt.Errorf("number %d is %v: only finite numbers are read", i+1, values[i])
		}
	}
	return shape, values, nil
}

// WriteArray writes numbers row by row as a .npy file.
func WriteArray(path string, shape []int, values []float64) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		var content bytes.Buffer
		encodeNPY(&content, shape, values)
		_, err := content.WriteTo(w)
		return err
	})
}

// encodeNPY writes version 1.0, the header padded so that numbers start at a multiple of 64 bytes.
func encodeNPY(w *bytes.Buffer, shape []int, values []float64) {
	dims := ""
	for _, size := range shape {
		dims += strconv.Itoa(size) + ", "
	}
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", dims)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	w.WriteString(npyMagic + "\x01\x00")
	w.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	w.WriteString(header)
	for _, v := range values {
		w.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
	}
}
