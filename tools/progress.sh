# Sourced: runs a long command with its output in a log, and shows how far it is on one line.

log=build/setup.log
mkdir -p build

# with_progress LABEL COMMAND...: on a terminal one line that is rewritten, elsewhere a line a minute.
# Where the command fails, the end of its log follows.
with_progress() {
  local label=$1 status=0 began=$SECONDS shown=$SECONDS
  shift
  "$@" >> $log 2>&1 &
  local worker=$!
  while kill -0 $worker 2>/dev/null; do
    sleep 1
    if [ -t 1 ]; then
      printf '\r\033[K%s: %s' "$label" "$(state_of_log $((SECONDS - began)))"
    elif [ $((SECONDS - shown)) -ge 60 ]; then
      shown=$SECONDS
      echo "$label: $(state_of_log $((SECONDS - began)))"
    fi
  done
  wait $worker || status=$?
  [ ! -t 1 ] || printf '\r\033[K'
  if [ $status != 0 ]; then
    echo "$label failed; the end of $log:" >&2
    tail -n 30 $log >&2
    exit $status
  fi
}

# The compiler's last "[34/57]", and the time.
state_of_log() {
  local files
  files=$(grep -o '^\[[0-9]*/[0-9]*\]' $log | tail -n 1 || true)
  printf '%s%d min %02d s' "${files:+$files files, }" $(($1 / 60)) $(($1 % 60))
}
