# To be sourced, by commands that take long, clean up behind themselves, or look at their arguments.
#
#   stages=3; step "Building"    begins the next stage, and says which of how many it is
#   at_exit 'rm -f "$report"'    what is done when the command ends, whatever ends it: the last first, and the rest if one fails
#   usage                        prints the comment at the head of the command
#   help_if_asked "$@"           the same, if the first argument asks for it, and ends the command
#   refuse "--sky is unknown"    says what is wrong with the arguments, prints that comment, and ends the command, with 2
#   take_nothing "$@"            for a command without arguments: both of it
#   take_number "the runs" 5     refuses what is no whole number above 0
stage=0
leaving=

step() { printf '\n== [%d/%d] %s (%d s)\n' "$((stage += 1))" "$stages" "$1" "$SECONDS"; }

at_exit() {
  leaving=$1$'\n'$leaving
  trap leave EXIT
}

# The status stays that of the command.
leave() {
  set +e
  eval "$leaving"
}

# This file lies beside the command, wherever that was called from.
usage() { awk 'NR == 1 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]%/*}/${0##*/}"; }

help_if_asked() {
  [[ ${1:-} == --help || ${1:-} == -h ]] || return 0
  usage
  exit
}

refuse() {
  printf '%s: %s.\n\n' "${0##*/}" "$1" >&2
  usage >&2
  exit 2
}

take_nothing() {
  help_if_asked "$@"
  (($# == 0)) || refuse "it takes no arguments, and not '$1'"
}

take_number() {
  [[ $2 =~ ^[1-9][0-9]*$ ]] || refuse "$1 must be a whole number above 0, and not '$2'"
}
