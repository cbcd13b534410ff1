package spec

// Entry is a line of a table of parts of one role: families, or priors.
type Entry[T interface{ Name() string }] struct {
	// Zero is the part without arguments. Its Name is what texts and model files call it.
	Zero T
	// Read makes the part from its arguments. Complaints go to a; see [Arguments].
	Read func(a *Arguments) T
}

// Choose reads name or name(key=value, …) by the entry of that name. role is what
// messages call the parts of the table. An error is an [*Error].
func Choose[T interface{ Name() string }](text, role string, table []Entry[T]) (T, Call, error) {
	var none T
	call, err := ParseSpec(text)
	if err != nil {
		return none, call, err
	}
	names := make([]string, len(table))
	for i, entry := range table {
		if names[i] = entry.Zero.Name(); names[i] != call.Name {
			continue
		}
		a := NewArguments(call, text)
		part := entry.Read(a)
		return part, call, a.Finish()
	}
	at := call
	at.Length = len(call.Name)
	return none, call, Errorf(text, at, "there is no %s %q in this version", role, call.Name).
		WithRemedy("%s", choices(call.Name, names))
}
