//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package atomicfile

import "os"

// locks says that lock knows.
const locks = false

// lock does not know whose a file is here: nobody's litter is removed.
func lock(*os.File) bool { return false }

func gone(int) bool { return false }

// alone is nothing here.
const alone = 0
