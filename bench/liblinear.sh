#!/bin/sh
# Prints the table of docs/convex.md: the whole posterior by the convex engine beside the mode by LIBLINEAR -s 0 -B 1 (Debian
# package liblinear-tools), both as whole processes that read the same file, one after the other; the ratio is that of
# processor seconds, the least of three runs each.
#
#	sh bench/liblinear.sh path/to/credence path/to/data [set ...]
#
# Every fifth row is for testing where a set has no test file. mr_unigram: 21,400 words; cluto_classic: class 3
# against the others, counts as 1. Where variances are those of draws, three outer loops are allowed.
set -eu
credence=$1 data=$2
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
time() { # wall and processor seconds of a command
	/usr/bin/time -a -o seconds -f '%e %U %S' "$@" >log 2>&1 || { cat log >&2; exit 1; }
}
field() { sed -n "s/.*\"$1\":\([-0-9.e]*\).*/\1/p" "$2"; }
echo '| set | rows | weights | error, logistic regression | error, posterior | log loss, logistic regression | log loss, posterior | seconds (CPU), LIBLINEAR | seconds (CPU), posterior | ratio |'
echo '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|'
for set in ${*:-a9a w8a ijcnn1 reuters mr_unigram cluto_classic}; do
	case $set in
	mr_unigram) from=$data/mr_polarity/mr_unigram ;;
	cluto_classic) from=$data/cluto_classic/classic ;;
	*) from=$data/$set/$set ;;
	esac
	case $set in
	reuters | mr_unigram | cluto_classic) engine='convex(steps=3)' ;;
	*) engine=convex ;;
	esac
	gunzip -c "$from.gz" >all
	if [ "$set" = cluto_classic ]; then
		awk '{ $1 = $1 == 3 ? "+1" : "-1"; gsub(/:[0-9]+/, ":1"); print }' all >binary && mv binary all
	fi
	if [ -f "$from.t.gz" ]; then
		mv all train && gunzip -c "$from.t.gz" >test
	else
		awk 'NR % 5 { print > "train"; next } { print > "test" }' all
	fi
	rm -f seconds
	for run in 1 2 3; do
		time liblinear-train -s 0 -B 1 -q train mode
		time "$credence" fit train --family bernoulli --prior 'normal(variance=1)' --engine "$engine" --json --quiet -o model
	done
	mv log fit
	liblinear-predict -b 1 test mode probability >/dev/null
	"$credence" evaluate model test --json >scores
	# The first line of LIBLINEAR's answer names the order of the classes.
	{ echo; cut -d ' ' -f 1 test; } | paste -d ' ' probability - | awk -v set="$set" -v rows="$(field rows fit)" -v weights="$(field weights fit)" \
		-v accuracy="$(field accuracy scores)" -v loss="$(field log_loss scores)" '
		NR == FNR { k = 2 - NR % 2; if (NR < 3 || $2 + $3 < cpu[k]) { wall[k] = $1; cpu[k] = $2 + $3 } next }
		FNR == 1 { first = $2; next }
		{ p = ($4 + 0 == first + 0) ? $2 : $3; n++; sum -= log(p < 1e-300 ? 1e-300 : p); wrong += ($1 + 0 != $4 + 0) }
		END {
			printf "| %s | %d | %d | %.4f | %.4f | %.4f | %.4f | %.2f (%.2f) | %.2f (%.2f) | %.1f |\n", set, rows, weights,
				wrong / n, 1 - accuracy, sum / n, loss, wall[1], cpu[1], wall[2], cpu[2], cpu[2] / cpu[1] }' seconds -
done
