package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestQueriesArePiped: rows of a query, as sqlite3 writes them, give the model and the predictions of the table's own
// file; a NULL is a missing value, and texts keep their commas.
func TestQueriesArePiped(t *testing.T) {
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("there is no sqlite3: apt-get install sqlite3")
	}
	folder := t.TempDir()
	table, base := filepath.Join(folder, "t.csv"), filepath.Join(folder, "t.db")
	rows := []string{"y,x,town"}
	for i := range 60 {
		town := []string{"Bath", `"Hull, east"`, "York"}[i%3]
		rows = append(rows, strings.Join([]string{fmt.Sprint(float64(i%7) + 0.25*float64(i%5)), fmt.Sprint(i % 7), town}, ","))
	}
	if err := os.WriteFile(table, []byte(strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	query := func(text string) string {
		out, err := exec.Command("sqlite3", "-header", "-csv", base, text).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if out, err := exec.Command("sqlite3", base, "create table t(y real, x real, town text)", ".mode csv", ".import --skip 1 "+table+" t").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	models := [2]string{filepath.Join(folder, "a.safetensors"), filepath.Join(folder, "b.safetensors")}
	must(t, "fit", table, "--formula", "y ~ x + town", "-o", models[0])
	if o := invoke(t, query("select * from t"), "fit", "-", "--formula", "y ~ x + town", "-o", models[1]); o.code != exitDone {
		t.Fatalf("exit %d, %s", o.code, o.err)
	}
	if a, b := must(t, "inspect", models[0], "--json"), strings.ReplaceAll(must(t, "inspect", models[1], "--json"), models[1], models[0]); a != b {
		t.Errorf("of the file\n%s\nof the query\n%s", a, b)
	}
	want, got := must(t, "predict", models[0], table), invoke(t, query("select x, town from t"), "predict", models[1], "-")
	if got.code != exitDone || got.out != want {
		t.Errorf("exit %d, %s; predictions of the query\n%s\nof the file\n%s", got.code, got.err, got.out, want)
	}
	lacking := query("select y, case when x = 3 then null else x end as x, town from t")
	if o := invoke(t, lacking, "fit", "-", "--formula", "y ~ x + town", "-o", models[1]); o.code != exitFailed || !strings.Contains(o.err, "--missing") {
		t.Errorf("exit %d, %s", o.code, o.err)
	}
}
