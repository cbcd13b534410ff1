#!/bin/sh
# Fails unless the committed assembly, stubs and coefficients are what the
# generators write. Run from anywhere in the repository.
set -eu
cd "$(git rev-parse --show-toplevel)/internal/kernel"
go generate .
git diff --exit-code -- . || { echo "kernel: generated files are stale: commit the result of go generate ./internal/kernel" >&2; exit 1; }
test -z "$(git status --porcelain -- '*_amd64.*' coefficient)"
