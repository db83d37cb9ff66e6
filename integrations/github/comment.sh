#!/usr/bin/env bash
# Writes what check.sh has found as the pull request's comment: one, that is changed by later runs.
set -euo pipefail
body=$RUNNER_TEMP/tidemark/comment.md
[ -e "$body" ] || exit 0
comments=repos/$GITHUB_REPOSITORY/issues
earlier=$(gh api --paginate "$comments/$NUMBER/comments" --jq '.[] | select(.body | startswith("<!-- tidemark -->")) | .id' | head -n 1)
if [ -n "$earlier" ]; then
  gh api --silent --method PATCH "$comments/comments/$earlier" --field "body=@$body"
else
  gh api --silent --method POST "$comments/$NUMBER/comments" --field "body=@$body"
fi
