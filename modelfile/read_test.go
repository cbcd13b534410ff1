package modelfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
)

// A file of format 4 loads, and says that its recipe is not whole; so does what is written of it.
func TestEarlierFormat(t *testing.T) {
	const earlier = "../score/testdata/houses.safetensors"
	fitted := must.Value(Load(earlier))(t)
	path := filepath.Join(t.TempDir(), "m.safetensors")
	must.Succeed(t, Save(path, fitted))
	again := must.Value(Load(path))(t)
	if r := again.Recipe; !fitted.Recipe.Partial || !r.Partial || r.Formula == "" || r.Seed != fitted.Recipe.Seed {
		t.Errorf("recipes %+v and %+v", fitted.Recipe, again.Recipe)
	}
	if file := string(must.Value(os.ReadFile(earlier))(t)); !strings.Contains(file, `"format\":4`) {
		t.Errorf("%s is no longer of format 4", earlier)
	}
}

// A file that is not there is said to be so once, and known to errors.Is.
func TestLoadOfAMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gone")
	_, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		t.Errorf("the error is %v", err)
	}
	if want := path + ": there is no such file: check the path"; err == nil || err.Error() != want || strings.Count(err.Error(), "exist") > 0 {
		t.Errorf("the message is %v, want %s", err, want)
	}
}
