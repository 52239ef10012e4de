// Package errfs wraps a file system to inject errors into it, or to record the order of its calls.
//
// [Wrap] fails chosen calls. A test that fails every call in turn goes on until no rule fires any more:
//
//	for n := 1; ; n++ {
//		e := errfs.Wrap(base, errfs.Rule{Nth: n, Err: syscall.EIO})
//		err := run(e)
//		if len(e.Injected()) == 0 {
//			break
//		}
//		// err is not nil, and the old state is intact.
//	}
//
// [Trace] and [TraceRel] give one line per mutating call, for golden files of the I/O order.
package errfs
