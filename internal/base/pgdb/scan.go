package pgdb

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/jackc/pgx/v5/pgtype"
)

// decode returns a column as int64, float64, bool, string, []byte or nil. Bytes are only
// good until the next row is read.
func decode(oid uint32, format int16, raw []byte) (any, error) {
	if raw == nil {
		return nil, nil
	}
	text := format == pgtype.TextFormatCode
	switch oid {
	case pgtype.Int8OID, pgtype.Int4OID, pgtype.Int2OID, pgtype.OIDOID:
		if text {
			return strconv.ParseInt(string(raw), 10, 64)
		}
		return integer(raw)
	case pgtype.BoolOID:
		if len(raw) != 1 {
			return nil, fmt.Errorf("a truth value has %d bytes", len(raw))
		}
		return raw[0] == 't' || raw[0] == 1, nil
	case pgtype.Float8OID:
		if text {
			return strconv.ParseFloat(string(raw), 64)
		}
		if len(raw) != 8 {
			return nil, fmt.Errorf("a number has %d bytes, want 8", len(raw))
		}
		return math.Float64frombits(binary.BigEndian.Uint64(raw)), nil
	case pgtype.NumericOID: // sums
		var n pgtype.Numeric
		if err := pgtype.NewMap().Scan(oid, format, raw, &n); err != nil {
			return nil, err
		}
		i, err := n.Int64Value()
		return i.Int64, err
	case pgtype.ByteaOID:
		if text {
			var b []byte
			err := pgtype.NewMap().Scan(oid, format, raw, &b)
			return b, err
		}
		return raw, nil
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.NameOID, pgtype.UnknownOID, pgtype.BPCharOID:
		return string(raw), nil
	}
	return nil, fmt.Errorf("a column has type %d, which is not read", oid)
}

func integer(raw []byte) (int64, error) {
	switch len(raw) {
	case 8:
		return int64(binary.BigEndian.Uint64(raw)), nil
	case 4:
		return int64(int32(binary.BigEndian.Uint32(raw))), nil
	case 2:
		return int64(int16(binary.BigEndian.Uint16(raw))), nil
	}
	return 0, fmt.Errorf("a number has %d bytes, want 2, 4 or 8", len(raw))
}

// assign stores a value where it is wanted, as package database/sql does: texts and
// numbers become what the destination is, where nothing is lost.
func assign(dest, v any) error {
	if d, ok := dest.(sql.Scanner); ok {
		if b, ok := v.([]byte); ok {
			v = append([]byte{}, b...)
		}
		return d.Scan(v)
	}
	p := reflect.ValueOf(dest)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return fmt.Errorf("%T is no place for a value", dest)
	}
	return set(p.Elem(), v)
}

func set(to reflect.Value, v any) error {
	switch kind := to.Kind(); kind {
	case reflect.String:
		if s, ok := asText(v); ok {
			to.SetString(s)
			return nil
		}
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		n, ok := asInteger(v)
		if ok && !to.OverflowInt(n) {
			to.SetInt(n)
			return nil
		}
	case reflect.Uint, reflect.Uint64, reflect.Uint32, reflect.Uint16, reflect.Uint8:
		n, ok := asInteger(v)
		if ok && n >= 0 && !to.OverflowUint(uint64(n)) {
			to.SetUint(uint64(n))
			return nil
		}
	case reflect.Float64:
		switch n := v.(type) {
		case float64:
			to.SetFloat(n)
			return nil
		case int64:
			to.SetFloat(float64(n))
			return nil
		}
	case reflect.Bool:
		switch b := v.(type) {
		case bool:
			to.SetBool(b)
			return nil
		case int64:
			if b == 0 || b == 1 {
				to.SetBool(b == 1)
				return nil
			}
		}
	case reflect.Slice:
		if to.Type().Elem().Kind() == reflect.Uint8 {
			switch b := v.(type) {
			case []byte:
				to.SetBytes(append([]byte{}, b...))
				return nil
			case string:
				to.SetBytes([]byte(b))
				return nil
			case nil:
				to.SetZero()
				return nil
			}
		}
	case reflect.Interface:
		if b, ok := v.([]byte); ok {
			v = append([]byte{}, b...)
		}
		if v == nil {
			to.SetZero()
			return nil
		}
		to.Set(reflect.ValueOf(v))
		return nil
	case reflect.Pointer:
		if v == nil {
			to.SetZero()
			return nil
		}
		p := reflect.New(to.Type().Elem())
		if err := set(p.Elem(), v); err != nil {
			return err
		}
		to.Set(p)
		return nil
	}
	return fmt.Errorf("a %T does not fit into a %s", v, to.Type())
}

func asText(v any) (string, bool) {
	switch s := v.(type) {
	case string:
		return s, true
	case []byte:
		return string(s), true
	case int64:
		return strconv.FormatInt(s, 10), true
	}
	return "", false
}

func asInteger(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case bool:
		if n {
			return 1, true
		}
		return 0, true
	case string:
		i, err := strconv.ParseInt(n, 10, 64)
		return i, err == nil
	}
	return 0, false
}
