package main

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// licenses holds the licences of Go and of every module that the program is linked from, by the path of
// the module with _ for /.
//
//go:generate sh licenses/collect.sh
//go:embed licenses/*.txt
var licenses embed.FS

func (p *program) licensesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "licenses",
		Short: "Print the licences of what this program is made of",
		Long:  "Licenses prints the licence of Go and of every module that is in this binary, each below its name.",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return p.printLicenses() },
	}
}

func (p *program) printLicenses() error {
	files, err := licenses.ReadDir("licenses")
	if err != nil {
		return err
	}
	texts := map[string]string{}
	for _, f := range files {
		text, err := licenses.ReadFile("licenses/" + f.Name())
		if err != nil {
			return err
		}
		name := strings.ReplaceAll(strings.TrimSuffix(f.Name(), ".txt"), "_", "/")
		texts[name] = string(text)
		if !p.json {
			fmt.Fprintf(p.out, "== %s\n\n%s\n", name, strings.TrimRight(string(text), "\n")+"\n")
		}
	}
	if p.json {
		return p.emit(texts)
	}
	return nil
}
