package colony

import "slices"

func (s *scanner) array(depth int) (value, error) {
	v := value{kind: kindArray}
	err := s.list('[', ']', func() error {
		e, err := s.value(depth + 1)
		v.list, v.duplicates = append(v.list, e), v.duplicates || e.duplicates
		return err
	})
	return v, err
}

func (s *scanner) object(depth int) (value, error) {
	v := newObject()
	var at places
	err := s.list('{', '}', func() error {
		name, err := s.name()
		if err != nil {
			return err
		}
		m, err := s.value(depth + 1)
		v.duplicates = v.duplicates || m.duplicates
		if i := at.of(v.names, name); i >= 0 {
			v.duplicates, v.list[i] = true, m
			return err
		}
		v.add(name, m)
		return err
	})
	return v, err
}

// places finds a name among those of an object that grows. Most objects are
// small, and a hostile text has many of them.
type places map[string]int

const fewNames = 16

// of returns where name is in names, -1 when it is new.
func (p *places) of(names []string, name string) int {
	if len(names) < fewNames {
		return slices.Index(names, name)
	}
	if *p == nil {
		*p = make(places)
	}
	for i := len(*p); i < len(names); i++ {
		(*p)[names[i]] = i
	}
	if i, ok := (*p)[name]; ok {
		return i
	}
	return -1
}

// name reads the name of a member and the colon.
func (s *scanner) name() (string, error) {
	if s.space() != '"' {
		return "", s.fail("want the name of a member")
	}
	name, err := s.text()
	if err != nil {
		return "", err
	}
	return name, s.take(':')
}

// list reads what is between two brackets, calling element before each.
func (s *scanner) list(open, closing byte, element func() error) error {
	if err := s.take(open); err != nil {
		return err
	}
	if s.space() == closing {
		s.at++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if s.space() == closing {
			s.at++
			return nil
		}
		if err := s.take(','); err != nil {
			return err
		}
	}
}
