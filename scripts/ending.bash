# To be sourced, by commands that call others: `ending "All passed"` is their last line, and has what scripts/skipped was
# called with on the way, by whomever, once more. What calls the command has it in its own ending, too. Has scripts/steps.bash with it.
source "${BASH_SOURCE[0]%/*}/steps.bash"
outer_skipped=${REBOUND_SKIPPED:-}
REBOUND_SKIPPED=$(mktemp)
export REBOUND_SKIPPED
at_exit 'rm -f "$REBOUND_SKIPPED"'

ending() {
  local skipped=() line
  while IFS= read -r line; do skipped+=("$line"); done < <(awk '!seen[$0]++' "$REBOUND_SKIPPED")
  if ((${#skipped[@]} == 0)); then
    printf '\n== %s (%d s)\n' "$1" "$SECONDS"
  else
    [[ -z $outer_skipped ]] || printf '%s\n' "${skipped[@]}" >>"$outer_skipped"
    printf '\n== %s but %d skipped (%d s):\n' "$1" "${#skipped[@]}" "$SECONDS"
    printf '%s\n' "${skipped[@]}"
  fi
}
