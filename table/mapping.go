package table

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// mapping is a map from names to values.
type mapping struct {
	any     map[string]any
	numbers map[string]float64
	texts   map[string]string
}

// getter returns the map that v holds; false where it is of another type.
func getter(v reflect.Value) (mapping, bool) {
	switch m := v.Interface().(type) {
	case map[string]any:
		return mapping{any: m}, true
	case map[string]float64:
		return mapping{numbers: m}, true
	case map[string]string:
		return mapping{texts: m}, true
	}
	for _, t := range []reflect.Type{reflect.TypeFor[map[string]any](), reflect.TypeFor[map[string]float64](), reflect.TypeFor[map[string]string]()} {
		if v.Type().ConvertibleTo(t) {
			return getter(v.Convert(t))
		}
	}
	return mapping{}, false
}

func (m mapping) at(name string) (value, bool) {
	if m.any != nil {
		v, ok := m.any[name]
		return valueOf(v), ok
	}
	if m.numbers != nil {
		v, ok := m.numbers[name]
		return numberOf(v), ok
	}
	v, ok := m.texts[name]
	return value{form: text, text: v}, ok
}

func (m mapping) each(visit func(name string, v value) error) error {
	for name, v := range m.any {
		if err := visit(name, valueOf(v)); err != nil {
			return err
		}
	}
	for name, v := range m.numbers {
		if err := visit(name, numberOf(v)); err != nil {
			return err
		}
	}
	for name, v := range m.texts {
		if err := visit(name, value{form: text, text: v}); err != nil {
			return err
		}
	}
	return nil
}

// names returns the keys in the order of the alphabet.
func (m mapping) names() []string {
	names := slices.Collect(maps.Keys(m.any))
	names = slices.AppendSeq(names, maps.Keys(m.numbers))
	names = slices.AppendSeq(names, maps.Keys(m.texts))
	slices.Sort(names)
	return names
}

// entry is an entry of the sparse segment.
type entry struct {
	key   uint64
	value float64
}

func (b *binder) appendMap(rows *Rows, get mapping) error {
	for j := range b.layout.Columns {
		name := stated(&b.layout.Columns[j])
		v, ok := get.at(name)
		if !ok {
			return fmt.Errorf("table: the map lacks the column %q: give nil where the value is missing", name)
		}
		if err := b.put(rows, j, v); err != nil {
			return err
		}
	}
	if !b.layout.Sparse {
		return nil
	}
	b.entries = b.entries[:0]
	if err := get.each(b.addEntry); err != nil {
		return err
	}
	slices.SortFunc(b.entries, func(x, y entry) int { return cmp.Compare(x.key, y.key) })
	for _, e := range b.entries {
		rows.Keys, rows.Value = append(rows.Keys, e.key), append(rows.Value, e.value)
		rows.Ones = rows.Ones && e.value == 1
	}
	return nil
}

// addEntry notes a key of a map that is an entry of the sparse segment.
func (b *binder) addEntry(name string, v value) error {
	for j := range b.layout.Columns {
		if b.layout.Columns[j].Name == name {
			return nil
		}
	}
	digits, ok := strings.CutPrefix(name, "x")
	key, err := strconv.ParseUint(digits, 10, 53)
	if !ok || err != nil {
		return nil
	}
	switch {
	case v.form == missing:
		return fmt.Errorf("table: feature %s is missing: leave it out, which means 0", name)
	case v.form != number && v.form != boolean, math.IsInf(v.number, 0):
		return fmt.Errorf("table: feature %s is not a finite number", name)
	}
	b.entries = append(b.entries, entry{key, v.number})
	return nil
}
