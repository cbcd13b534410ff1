package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/dataset"
)

func (p *program) cacheCommand() *cobra.Command {
	var options dataset.Options
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "List or remove what is kept of tables that were read",
		Long: `Tables of more than 64 MB of text are parsed once, and kept in a folder under a limit in
bytes (--cache and --cache-limit of the commands that read). Nothing else is kept there.`,
		Example: `  credence cache list
  credence cache clean`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&options.CacheDir, "cache", "", "folder of the row cache (default: the user's cache folder)")
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List the tables that are kept, the one used last first", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.cache(&options, false) },
	}, &cobra.Command{
		Use: "clean", Short: "Remove them, and what crashes left behind", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.cache(&options, true) },
	})
	return cmd
}

// cacheResult is the JSON object of both commands.
type cacheResult struct {
	Folder string           `json:"folder"` // of the cache
	Tables []dataset.Cached `json:"tables"` // that are kept, the one used last first
	Bytes  int64            `json:"bytes"`  // that they take, or that are free now
}

// cache tells what is kept, or removes it.
func (p *program) cache(options *dataset.Options, clean bool) error {
	folder, err := options.CacheFolder()
	if err != nil {
		return err
	}
	result := cacheResult{Folder: folder, Tables: append([]dataset.Cached{}, dataset.ListCache(folder)...)}
	for _, t := range result.Tables {
		result.Bytes += t.Bytes
	}
	if clean {
		if result.Bytes, err = dataset.CleanCache(folder); err != nil {
			return fmt.Errorf("%w: remove the folder by hand", err)
		}
	}
	switch {
	case p.json:
		return p.emit(result)
	case clean:
		p.say("%s are free now in %s", inBytes(result.Bytes), folder)
		return nil
	}
	p.say("%s of %s in %s", inBytes(result.Bytes), counted(len(result.Tables), "table"), folder)
	w := p.columns(toLeft)
	for _, t := range result.Tables {
		what := listed(t.Files)
		if len(t.Files) == 0 {
			what = t.Name + ", which is damaged"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", inBytes(t.Bytes), t.Used.Format(time.DateTime), printable(what))
	}
	return w.Flush()
}

// inBytes writes a number of bytes for people.
func inBytes(n int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	value, k := float64(n)/1000, 0
	for ; value >= 1000 && k < len(units)-1; k++ {
		value /= 1000
	}
	return fmt.Sprintf("%.3g %s", value, units[k])
}
