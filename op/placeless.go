package op

import "reflect"

// telling are the fields of reports that say in words what was found, and may
// name places of this machine in them.
var telling = map[string]bool{
	"Damage": true, "Detail": true, "Reason": true, "Warnings": true, "Warning": true, "Checked": true, "NotChecked": true, "Missing": true,
	"Remaining": true, "LastError": true,
}

// Placeless leaves the places of this machine out of a report for a caller who may not know them. It does not
// touch the parts that v shares with other values.
func Placeless[T any](c Caller, v T) T {
	if c.Grant.Tenant == "" {
		return v
	}
	return placelessValue(reflect.ValueOf(&v).Elem(), false).Interface().(T)
}

func placelessValue(v reflect.Value, told bool) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		if told && NamesPlace(v.String()) {
			out.SetString(Unplaced)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				out.Field(i).Set(placelessValue(v.Field(i), telling[f.Name]))
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			return out
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(placelessValue(v.Index(i), told))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(placelessValue(v.Elem(), told))
		}
	}
	return out
}
