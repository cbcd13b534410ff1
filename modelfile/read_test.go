package modelfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/safetensors"
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

// TestLoadOfWhatIsNoModel: what is no model file is told apart by what to do about it, and nothing is waited for.
func TestLoadOfWhatIsNoModel(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	other := filepath.Join(folder, "other")
	var out bytes.Buffer
	must.Succeed(t, safetensors.Write(&out, nil, []safetensors.Tensor{safetensors.Of("w", []float64{1})}))
	must.Succeed(t, os.WriteFile(other, out.Bytes(), 0o600))
	pipe := filepath.Join(folder, "pipe")
	paths := map[string]string{
		folder:                                    " is not a model file but a folder, a pipe or a device: copy the model to a file first",
		file("table.csv", "y,x\n1,2\n"):           " is not a model file but a table or another text: name the model first and the data behind it",
		file("short", "y,x\n1,2"):                 " is not a model file that can be read: truncated: 7 bytes are less than the smallest file has: restore it from a copy or fit again",
		file("nothing", ""):                       " is not a model file that can be read: truncated: 0 bytes are less than the smallest file has: restore it from a copy or fit again",
		file("binary", "y,x\n1,2\x00\n and more"): " is not a model file that can be read: this is no safetensors file, or a damaged one",
		other: " is not a model file that can be read: it is a safetensors file of another program: give one that credence wrote",
	}
	if exec.Command("mkfifo", pipe).Run() == nil {
		paths[pipe] = paths[folder]
	}
	for path, want := range paths {
		if _, err := Load(path); err == nil || !strings.HasPrefix(err.Error(), path+want) || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if os.Geteuid() != 0 { // who may read everything
		must.Succeed(t, os.Chmod(other, 0))
		if _, err := Load(other); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "ask its owner for the permission") {
			t.Errorf("a file of another: %v", err)
		}
	}
}
