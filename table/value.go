package table

import (
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/credence-ml/credence/internal/cell"
)

// value is a cell as a program states it.
type value struct {
	form   form
	number float64 // of a number, and 0 or 1 of a boolean
	text   string
	// whole says that the number was stated as an integer, of which bits are those of 64: number may be near it.
	whole bool
	bits  uint64
}

// form is what a value is.
type form uint8

const (
	missing form = iota
	number
	boolean
	text
	foreign // nothing that a cell may hold
)

func numberOf(v float64) value {
	if math.IsNaN(v) {
		return value{}
	}
	return value{form: number, number: v}
}

func integerOf(v int64) value {
	return value{form: number, number: float64(v), whole: true, bits: uint64(v)}
}

func booleanOf(v bool) value {
	if v {
		return value{form: boolean, number: 1}
	}
	return value{form: boolean}
}

// valueOf returns the cell that a value of any type is. A nil pointer, nil and a NaN are
// missing; a null of database/sql is missing where it is not valid.
func valueOf(v any) value {
	switch v := v.(type) {
	case nil:
		return value{}
	case float64:
		return numberOf(v)
	case string:
		return value{form: text, text: v}
	case bool:
		return booleanOf(v)
	case int:
		return integerOf(int64(v))
	}
	return valueIn(reflect.ValueOf(v))
}

// valueIn is valueOf for a field of a struct. It allocates for a []byte only.
func valueIn(v reflect.Value) value {
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		return numberOf(v.Float())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return integerOf(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return value{form: number, number: float64(v.Uint()), whole: true, bits: v.Uint()}
	case reflect.Bool:
		return booleanOf(v.Bool())
	case reflect.String:
		return value{form: text, text: v.String()}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return value{}
		}
		return valueIn(v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			break
		}
		if v.IsNil() {
			return value{}
		}
		return value{form: text, text: string(v.Bytes())}
	case reflect.Struct:
		if v.Type() == timeType {
			return daysOf(v.Interface().(time.Time))
		}
		if !isNull(v.Type()) {
			break
		}
		if !v.Field(1).Bool() {
			return value{}
		}
		return valueIn(v.Field(0))
	}
	return value{form: foreign}
}

// daysOf is a time as days since 1970-01-01 UTC; the zero time is missing.
func daysOf(t time.Time) value {
	if t.IsZero() {
		return value{}
	}
	return numberOf(float64(t.UnixMilli()) / (24 * 60 * 60 * 1000))
}

// isNull reports whether a type is one of the nulls of database/sql: a value and whether it is valid.
func isNull(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.PkgPath() == "database/sql" && t.NumField() == 2 &&
		t.Field(1).Name == "Valid" && t.Field(1).Type.Kind() == reflect.Bool
}

// appendText appends the text of a value as a category has it: an integer with all its digits, as files have it, and
// another number in the least digits that give it back.
func (v value) appendText(dst []byte) []byte {
	switch {
	case v.whole && v.number < 0:
		return strconv.AppendInt(dst, int64(v.bits), 10)
	case v.whole:
		return strconv.AppendUint(dst, v.bits, 10)
	}
	switch v.form {
	case number:
		return cell.AppendLevel(dst, v.number, 64)
	case boolean:
		return strconv.AppendBool(dst, v.number == 1)
	}
	return append(dst, v.text...)
}
