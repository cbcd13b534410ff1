package main

import (
	"embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/modelfile"
)

// build is which program this is.
type build struct {
	Version      string `json:"version"`
	Revision     string `json:"revision,omitempty"` // of the source
	Go           string `json:"go,omitempty"`       // version of the compiler
	ModelFormat  int    `json:"model_format"`       // of the files that it writes
	Platform     string `json:"platform"`           // system and processor that it was built for
	Instructions string `json:"instructions"`       // that the dense kernels use on this processor
	Processors   int    `json:"processors"`         // that it may use
}

func thisBuild() build {
	b := build{
		Version: "unknown", ModelFormat: modelfile.Format, Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Instructions: kernel.Detected().String(), Processors: runtime.GOMAXPROCS(0),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Version, b.Go = info.Main.Version, info.GoVersion
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				b.Revision = setting.Value[:min(12, len(setting.Value))]
			}
		}
	}
	return b
}

// String says which build this is and which model files it writes and reads.
func (b build) String() string {
	text := b.Version
	if b.Revision != "" {
		text += ", revision " + b.Revision
	}
	if b.Go != "" {
		text += ", " + b.Go
	}
	return fmt.Sprintf("%s, model files of format %d", text, b.ModelFormat)
}

func (p *program) versionCommand() *cobra.Command {
	var cpu bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print which program this is",
		Long: `Version prints the release, the revision, the version of Go and the format of model files. With --cpu it adds
what the dense kernels run on this processor: results are the same bytes on one kind of instructions, and
the same to about nine digits on any.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			if p.json {
				return p.emit(b)
			}
			p.say("credence version %s", b)
			if cpu {
				p.say("%s, %s instructions, %d processors", b.Platform, b.Instructions, b.Processors)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&cpu, "cpu", false, "what the dense kernels run on this processor")
	return cmd
}

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
