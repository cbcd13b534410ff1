package conform

import (
	"fmt"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/spec"
)

// Links returns the families that take a link under each that they take, by their texts.
func Links(t testing.TB) map[string]likelihood.Named {
	all := map[string]likelihood.Named{}
	for _, family := range likelihood.All() {
		read := func(text string) (likelihood.Named, []spec.Option) {
			call := must.Value(spec.ParseSpec(text))(t)
			arguments := spec.NewArguments(call, text)
			l := family.Read(arguments)
			must.Succeed(t, arguments.Finish())
			return l, arguments.Options()
		}
		_, options := read(family.Zero.Name())
		for _, o := range options {
			if o.Key != "link" {
				continue
			}
			words, initial, _ := strings.Cut(strings.TrimSuffix(o.Takes, ")"), " (default ")
			for word := range strings.SplitSeq(words, " or ") {
				l := family.Zero
				if word != initial {
					l, _ = read(family.Zero.Name() + "(link=" + word + ")")
				}
				all[fmt.Sprint(l)] = l
			}
		}
	}
	return all
}
