package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/score"
)

// inBrowser opens a page in headless Chromium without a network, runs a further script at its end, which its policy is
// made to allow, and returns what that printed. The console stays empty.
func inBrowser(t *testing.T, page, script string, out any) {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome-headless-shell", "headless_shell"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
		}
	}
	if path == "" {
		t.Skip("there is no Chromium, in which pages are opened: apt-get install chromium")
	}
	script = "document.title = 'done'; const pre = document.createElement('pre'); pre.id = 'told'; pre.textContent = JSON.stringify((() => {" + script + "})()); document.body.append(pre);"
	page = strings.Replace(page, "script-src ", "script-src &#39;"+hash(script)+"&#39; ", 1)
	page = strings.Replace(page, "</body>", "<script>"+script+"</script>\n</body>", 1)
	file := filepath.Join(t.TempDir(), "page.html")
	must.Succeed(t, os.WriteFile(file, []byte(page), 0o600))
	cmd := exec.CommandContext(t.Context(), path, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,800", "--host-resolver-rules=MAP * ~NOTFOUND",
		"--enable-logging=stderr", "--user-data-dir="+t.TempDir(), "--timeout=300000", "--dump-dom", "file://"+file)
	var dom, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &dom, &errs
	must.Succeed(t, cmd.Run())
	for line := range strings.Lines(errs.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Error(line)
		}
	}
	_, told, ok := strings.Cut(dom.String(), `<pre id="told">`)
	told, _, found := strings.Cut(told, "</pre>")
	if !ok || !found {
		t.Fatalf("the page printed nothing: %.2000s", errs.String())
	}
	must.Succeed(t, json.Unmarshal([]byte(html.UnescapeString(told)), out))
}

// TestInBrowser: on the first screen stand the verdict, the three largest effects and the form's link; the page asks
// for nothing, the form answers a change of a field, marks what is outside the data, and gives the numbers of predict
// in 1,000 rows of each family.
func TestInBrowser(t *testing.T) {
	study.Only(t)
	train, _ := rowsOf(t, 300, 1, false)
	test, texts := rowsOf(t, 1000, 2, false)
	for _, c := range []struct {
		formula, family string
		within          float64
	}{
		{"y ~ x + z + flag + city", "gaussian", 1e-9}, {"class ~ x + z + city", "bernoulli", 1e-9}, {"wins ~ x + z", "binomial(trials=trials)", 1e-9},
		{"count ~ x + city + offset(log(size))", "poisson", 1e-9}, {"count ~ x + city + offset(log(size))", "negbinomial", 1e-9}, {"grade ~ x + z", "ordinal", 1e-9},
		{"cost ~ x + city", "gamma", 1e-6}, {"y ~ x + city", "studentt", 1e-6}, {"y ~ hsgp(x, z, m=18)", "gaussian", 1e-3},
	} {
		t.Run(c.formula+" "+c.family, func(t *testing.T) {
			fitted := must.Value(fit.Table(t.Context(), train, fit.Options{Formula: c.formula, Family: c.family}))(t)
			scorer := must.Value(score.New(fitted, score.Options{}))(t)
			var out bytes.Buffer
			must.Value(Write(t.Context(), &out, Input{Models: []Model{{"m", scorer}}, Rows: test}))(t)
			var told struct {
				Answers                []answer
				Requests               int
				Parsed, Lowest         float64
				Before, After, Outside string
			}
			rows := must.Value(json.Marshal(texts))(t)
			inBrowser(t, out.String(), fmt.Sprintf(`const parsed = performance.now(), rows = %s, at = id => document.getElementById(id), field = document.querySelector('#form input');
const lowest = Math.max(...[...document.querySelectorAll('#verdict, .top li, a.button')].map(e => e.getBoundingClientRect().bottom));
const before = at('answer').textContent;
field.value = '1e3'; field.dispatchEvent(new Event('input'));
return {answers: rows.map(r => { try { return form.predict(r); } catch (e) { return {error: e.message}; } }), requests: performance.getEntriesByType('resource').length,
  parsed, lowest, before, after: at('answer').textContent, outside: at('marked').textContent};`, rows), &told)
			if told.Requests > 0 || told.Lowest > 800 || told.Lowest < 100 || told.Before == told.After || !strings.Contains(told.Outside, "x is outside the data, ") {
				t.Errorf("%d requests, first screen to %.0f, %q after %q, %q", told.Requests, told.Lowest, told.After, told.Before, told.Outside)
			}
			t.Logf("parsed and answered after %.0f ms", told.Parsed)
			checkAnswers(t, fitted, test, told.Answers, c.within)
		})
	}
}
