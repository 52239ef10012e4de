package pgdb

import (
	"database/sql"
	"encoding/binary"
	"math"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/amber-memory/amber/internal/test/must"
)

const (
	inText   = int16(pgtype.TextFormatCode)
	inBinary = int16(pgtype.BinaryFormatCode)
)

func eight(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		oid    uint32
		format int16
		raw    []byte
		want   any // nil: the value is null
	}{
		{"null", pgtype.Int8OID, inBinary, nil, nil},
		{"null of a type that is not read", pgtype.UUIDOID, inBinary, nil, nil},
		{"int8", pgtype.Int8OID, inBinary, eight(1 << 63), int64(math.MinInt64)},
		{"int4", pgtype.Int4OID, inBinary, []byte{255, 255, 255, 254}, int64(-2)},
		{"int2", pgtype.Int2OID, inBinary, []byte{255, 255}, int64(-1)},
		{"int8 as text", pgtype.Int8OID, inText, []byte("-9223372036854775808"), int64(math.MinInt64)},
		{"true", pgtype.BoolOID, inBinary, []byte{1}, true},
		{"false", pgtype.BoolOID, inBinary, []byte{0}, false},
		{"true as text", pgtype.BoolOID, inText, []byte("t"), true},
		{"false as text", pgtype.BoolOID, inText, []byte("f"), false},
		{"float8", pgtype.Float8OID, inBinary, eight(math.Float64bits(-0.1)), -0.1},
		{"float8 as text", pgtype.Float8OID, inText, []byte("1e-300"), 1e-300},
		{"a sum", pgtype.NumericOID, inText, []byte("9223372036854775807"), int64(math.MaxInt64)},
		{"bytes", pgtype.ByteaOID, inBinary, []byte{0, 255}, []byte{0, 255}},
		{"no bytes", pgtype.ByteaOID, inBinary, []byte{}, []byte{}},
		{"bytes as text", pgtype.ByteaOID, inText, []byte(`\x00ff`), []byte{0, 255}},
		{"text", pgtype.TextOID, inBinary, []byte("Привет\x7f"), "Привет\x7f"},
		{"empty text", pgtype.TextOID, inText, []byte{}, ""},
		{"varchar", pgtype.VarcharOID, inBinary, []byte("a"), "a"},
		{"name", pgtype.NameOID, inBinary, []byte("a"), "a"},
		{"char", pgtype.BPCharOID, inBinary, []byte("a "), "a "},
		{"unknown", pgtype.UnknownOID, inText, []byte("a"), "a"},
	} {
		got, err := decode(c.oid, c.format, c.raw)
		must.NoError(t, err)
		must.Equal(t, c.name, got, c.want)
	}
	for _, c := range []struct {
		name   string
		oid    uint32
		format int16
		raw    []byte
	}{
		{"int8 of three bytes", pgtype.Int8OID, inBinary, []byte{1, 2, 3}},
		{"int8 as text that is none", pgtype.Int8OID, inText, []byte("1.5")},
		{"int8 that is too large", pgtype.Int8OID, inText, []byte("9223372036854775808")},
		{"a truth value of two bytes", pgtype.BoolOID, inBinary, []byte{1, 1}},
		{"float8 of four bytes", pgtype.Float8OID, inBinary, []byte{1, 2, 3, 4}},
		{"float8 as text that is none", pgtype.Float8OID, inText, []byte("x")},
		{"a sum that is too large", pgtype.NumericOID, inText, []byte("9223372036854775808")},
		{"a sum with a part", pgtype.NumericOID, inText, []byte("1.5")},
		{"a type that is not read", pgtype.UUIDOID, inBinary, eight(1)},
	} {
		must.Error(t, c.name, must.Err(decode(c.oid, c.format, c.raw)))
	}
}

type (
	word string
	size int8
)

// stored assigns a value to a new T.
func stored[T any](v any) (got T, err error) {
	err = assign(&got, v)
	return got, err
}

func takes[T any](t *testing.T, v any, want T) {
	t.Helper()
	got, err := stored[T](v)
	must.NoError(t, err)
	must.Equal(t, "value", got, want)
}

func refuses[T any](t *testing.T, v any) {
	t.Helper()
	if got, err := stored[T](v); err == nil {
		t.Errorf("%v (%T) became %v (%T), want an error", v, v, got, got)
	}
}

func TestAssign(t *testing.T) {
	t.Parallel()
	takes(t, "a", "a")
	takes(t, "a", word("a"))
	takes(t, []byte("a"), "a")
	takes(t, int64(-7), "-7")
	refuses[string](t, nil)
	refuses[string](t, 1.5)
	refuses[string](t, true)

	takes(t, int64(7), int64(7))
	takes(t, int64(7), 7)
	takes(t, int64(127), size(127))
	takes(t, int64(-128), int8(-128))
	takes(t, int64(math.MaxInt16), int16(math.MaxInt16))
	takes(t, int64(math.MinInt32), int32(math.MinInt32))
	takes(t, true, 1)
	takes(t, false, int64(0))
	takes(t, "42", 42)
	refuses[int64](t, nil)
	refuses[int](t, "4x")
	refuses[int](t, 1.5)
	refuses[int](t, []byte("1"))
	refuses[size](t, int64(128))
	refuses[int8](t, int64(-129))
	refuses[int16](t, int64(math.MaxInt16+1))
	refuses[int32](t, int64(math.MaxInt32+1))

	takes(t, int64(255), uint8(255))
	takes(t, int64(math.MaxInt64), uint64(math.MaxInt64))
	takes(t, int64(0), uint(0))
	refuses[uint8](t, int64(256))
	refuses[uint16](t, int64(1<<16))
	refuses[uint32](t, int64(1<<32))
	refuses[uint64](t, int64(-1))
	refuses[uint](t, nil)

	takes(t, 1.5, 1.5)
	takes(t, int64(2), 2.0)
	refuses[float64](t, "1.5")
	refuses[float64](t, nil)

	takes(t, true, true)
	takes(t, int64(1), true)
	takes(t, int64(0), false)
	refuses[bool](t, int64(2))
	refuses[bool](t, "true")
	refuses[bool](t, nil)

	takes(t, []byte{1, 2}, []byte{1, 2})
	takes(t, "ab", []byte("ab"))
	takes[[]byte](t, nil, nil)
	takes(t, []byte("{}"), sql.RawBytes("{}"))
	refuses[[]byte](t, int64(1))
	refuses[[]string](t, "a")

	takes[any](t, int64(1), int64(1))
	takes[any](t, []byte("a"), []byte("a"))
	takes[any](t, nil, nil)

	one := int64(1)
	takes(t, int64(1), &one)
	takes[*int64](t, nil, nil)
	refuses[*int8](t, int64(200))

	takes(t, "a", sql.NullString{String: "a", Valid: true})
	takes(t, nil, sql.NullString{})
	takes(t, int64(3), sql.NullInt64{Int64: 3, Valid: true})
	refuses[sql.NullInt64](t, "x")

	refuses[struct{}](t, "a")
	for _, dest := range []any{nil, 1, "a", (*int)(nil)} {
		must.Error(t, "no place", assign(dest, int64(1)))
	}
}

// Bytes of a row are only good until the next one, so assign copies them.
func TestBytesAreCopied(t *testing.T) {
	t.Parallel()
	type raw []byte
	from := []byte("abc")
	var (
		plain []byte
		named raw
		loose any
		null  sql.Null[[]byte]
	)
	for _, dest := range []any{&plain, &named, &loose, &null} {
		must.NoError(t, assign(dest, from))
	}
	from[0] = 'x'
	must.Equal(t, "bytes", string(plain), "abc")
	must.Equal(t, "named bytes", string(named), "abc")
	must.Equal(t, "any", string(loose.([]byte)), "abc")
	must.Equal(t, "null", string(null.V), "abc")
}

// fixed is one row of an answer.
type fixed struct {
	pgx.Rows
	fields []pgconn.FieldDescription
	values [][]byte
}

func (f fixed) RawValues() [][]byte                          { return f.values }
func (f fixed) FieldDescriptions() []pgconn.FieldDescription { return f.fields }

func TestScan(t *testing.T) {
	t.Parallel()
	row := fixed{
		fields: []pgconn.FieldDescription{{Name: "a", DataTypeOID: pgtype.TextOID}, {Name: "b", DataTypeOID: pgtype.Int8OID, Format: inBinary}},
		values: [][]byte{[]byte("x"), eight(300)},
	}
	var (
		s     string
		n     int64
		small int8
	)
	must.NoError(t, scan(row, []any{&s, &n}))
	must.Equal(t, "text", s, "x")
	must.Equal(t, "number", n, int64(300))
	must.Is(t, "too few", scan(row, []any{&s}), errCount)
	must.Is(t, "too many", scan(row, []any{&s, &n, &n}), errCount)
	err := scan(row, []any{&s, &small})
	must.Error(t, "too large", err)
	must.Says(t, "too large", err.Error(), `column index 1, name "b"`, "int8")
}

func TestValue(t *testing.T) {
	t.Parallel()
	must.Equal(t, "no bytes", must.Get(value([]byte(nil)))(t), nil)
	must.Equal(t, "word", must.Get(value(word("a")))(t), any("a"))
	must.Equal(t, "size", must.Get(value(size(3)))(t), any(int64(3)))
	must.Equal(t, "flag", must.Get(value(true))(t), any(flag(true)))
	must.Error(t, "a map", must.Err(value(map[string]int{})))
	must.Error(t, "a large number", must.Err(value(uint64(1<<63))))
	must.Equal(t, "as number", must.Get(flag(true).Int64Value())(t), pgtype.Int8{Int64: 1, Valid: true})
	must.Equal(t, "as number", must.Get(flag(false).Int64Value())(t), pgtype.Int8{Valid: true})
	must.Equal(t, "as truth", must.Get(flag(true).BoolValue())(t), pgtype.Bool{Bool: true, Valid: true})
}
