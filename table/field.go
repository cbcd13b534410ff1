package table

import (
	"fmt"
	"reflect"
	"time"

	"github.com/credence-ml/credence"
)

// field is a field of a struct type that makes a column.
type field struct {
	Column
	path   []int   // from the struct to the field, through embedded structs
	plain  bool    // the value as it is, without any rule
	offset uintptr // of a plain field in the struct
	err    error   // why the field cannot be a column; an error only where the column is needed
}

// fieldsOf returns the columns that the fields of a struct type make, in their order. A column
// has the name of the tag `credence:"name"`, or else that of the field; "-" leaves the field out. The
// fields of embedded structs stand among those of the struct, which hide equal names in them.
func fieldsOf(t reflect.Type) ([]field, error) {
	var fields []field
	place := map[string]int{} // name → place in fields
	visiting := map[reflect.Type]bool{}
	var walk func(t reflect.Type, path []int) error
	walk = func(t reflect.Type, path []int) error {
		if visiting[t] {
			return fmt.Errorf("table: %s embeds itself: leave the field out with the tag `credence:\"-\"`", t)
		}
		visiting[t] = true
		defer delete(visiting, t)
		for i := range t.NumField() {
			f := t.Field(i)
			name, tagged := f.Tag.Lookup("credence")
			if name == "-" {
				continue
			}
			at := append(path[:len(path):len(path)], i)
			under := f.Type
			if under.Kind() == reflect.Pointer {
				under = under.Elem()
			}
			if f.Anonymous && !tagged && under.Kind() == reflect.Struct && !isNull(under) && under != timeType {
				if f.IsExported() || f.Type.Kind() == reflect.Struct {
					if err := walk(under, at); err != nil {
						return err
					}
				}
				continue
			}
			if !f.IsExported() {
				continue
			}
			if name == "" {
				name = f.Name
			}
			column := field{Column: Column{Name: name}, path: at}
			column.Kind, column.Unknown, column.err = kindOf(f.Type)
			if isTime(f.Type) {
				column.Notation.Date = timeOrder
			}
			if column.err != nil {
				column.err = fmt.Errorf("table: field %s of %s %w", f.Name, t, column.err)
			}
			k, twice := place[name]
			switch {
			case !twice:
				place[name] = len(fields)
				fields = append(fields, column)
			case len(fields[k].path) == len(at):
				return fmt.Errorf("table: two fields of %s are columns named %q: give one of them a tag such as `credence:\"other\"`", t, name)
			case len(fields[k].path) > len(at):
				fields[k] = column
			}
		}
		return nil
	}
	if err := walk(t, nil); err != nil {
		return nil, err
	}
	return fields, nil
}

var timeType = reflect.TypeFor[time.Time]()

// kindOf returns the kind of column that a field of this type makes; unknown says that only
// the values can tell.
func kindOf(t reflect.Type) (kind credence.Kind, unknown bool, err error) {
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.Interface:
		return credence.Numeric, true, nil
	case reflect.Float64, reflect.Float32, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return credence.Numeric, false, nil
	case reflect.Bool:
		return credence.Boolean, false, nil
	case reflect.String:
		return credence.Category, false, nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return credence.Category, false, nil
		}
	case reflect.Struct:
		if isNull(t) {
			return kindOf(t.Field(0).Type)
		}
		if t == timeType {
			return credence.Numeric, false, nil
		}
	}
	return 0, false, fmt.Errorf("is a %s, which is no number, boolean or text: leave it out with the tag `credence:\"-\"`", t)
}

// timeOrder is the order of dates that a time of a program stands for: its column is one of dates.
const timeOrder = "ymd"

// isTime says whether a type is time.Time, a pointer to one or one that may be null.
func isTime(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t == timeType || isNull(t) && t.Field(0).Type == timeType
}

// in returns the field's cell of a struct.
func (f *field) in(v reflect.Value) value {
	for _, i := range f.path {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return value{}
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return valueIn(v)
}
