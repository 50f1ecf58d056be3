# To be sourced, by commands that take long or clean up behind themselves, once they are in the folder of the checkout.
#
#   stages=3; step "Building"    begins the next stage, and says which of how many it is
#   at_exit 'rm -f "$report"'    what is done when the command ends, whatever ends it: the last first, and the rest if one fails
#   usage                        prints the comment at the head of the command
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

usage() { awk 'NR == 1 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "scripts/${0##*/}"; }
