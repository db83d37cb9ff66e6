#!/usr/bin/env bash
# Predicts each of $SPECS, and with $BASE (a commit) the same there.  Writes the summary of the step, and $RUNNER_TEMP/tidemark/comment.md.
# Ends with the largest exit code of `tidemark predict`: 0 fits, 1 does not, 2 and 3 a question that is wrong or not known.
set -euo pipefail
out=$RUNNER_TEMP/tidemark
rm -rf "$out"
mkdir -p "$out"
options=(--quiet)
[ -z "${GPU:-}" ] || options+=(--gpu "$GPU")
[ -z "${MARGIN:-}" ] || options+=(--margin "$MARGIN")

# The commit that the pull request would change, beside this one.
if [ -n "${BASE:-}" ]; then
  git cat-file -e "$BASE^{commit}" 2>/dev/null || git fetch --quiet --depth 1 origin "$BASE"
  git worktree add --quiet --detach "$out/base" "$BASE"
  trap 'git worktree remove --force "$out/base"' EXIT
fi

predict() {   # folder, spec, name of the report: prints the verdict, or what is wrong
  (cd "$1" && tidemark predict --spec "$2" "${options[@]}" --json "$out/$3.json" 2>&1)
}

worst=0
{ echo "<!-- tidemark -->"; echo "### GPU memory"; } > "$out/comment.md"
for spec in $SPECS; do
  code=0
  verdict=$(predict . "$spec" now) || code=$?
  [ "$code" -le "$worst" ] || worst=$code
  [ "$code" = 0 ] || echo "::error file=$spec::${verdict//$'\n'/%0A}"
  echo "**\`$spec\`** $verdict" >> "$out/comment.md"
  if [ -n "${BASE:-}" ] && [ "$code" -le 1 ]; then
    if [ ! -e "$out/base/$spec" ]; then
      echo "(new)" >> "$out/comment.md"
    elif before=$(predict "$out/base" "$spec" before) || [ $? = 1 ]; then
      if change=$(cd "$out" && tidemark diff before.json now.json); then
        echo "(unchanged)" >> "$out/comment.md"
      else
        printf '\nbefore: %s\n\n<details><summary>what changes</summary>\n\n```\n%s\n```\n</details>\n' "$before" "$(grep -v '^  note: ' <<< "$change")" >> "$out/comment.md"
      fi
    else
      printf '\nbefore: %s\n' "$before" >> "$out/comment.md"
    fi
  fi
  echo >> "$out/comment.md"
done
cat "$out/comment.md" >> "$GITHUB_STEP_SUMMARY"
echo "fits=$([ "$worst" = 0 ] && echo true || echo false)" >> "$GITHUB_OUTPUT"
cat "$out/comment.md"
exit "$worst"
