# To be sourced, in the root of the checkout, by what builds the adapters to packages of others. In the place of those it has
# stand-ins: small packages with the same names and signatures, which SwiftPM's mirrors put there. Nothing asks the network.
#
#   adapters            the traits of all adapters, apart by commas
#   stand_ins           the flags by which SwiftPM finds the stand-ins; make_stand_ins makes these before
#   keep_versions P     puts aside which versions the package in the folder P stands on: those of stand-ins are no one's
#   restore_versions    and brings that back
adapters=Logging,Metrics,Tracing,OpenAPI,ServiceLifecycle,AsyncHTTPClient
stand_ins_folder=$PWD/.build-stand-ins
stand_ins=(--config-path "$stand_ins_folder/configuration" --disable-dependency-cache)
# A package without a stand-in is an error at once, and not a download.
export GIT_ALLOW_PROTOCOL=file
# What a hook that calls this says of its own repository is not for those that are made here, nor for SwiftPM's.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

# Made anew only if they have changed: a new checkout is built anew, and so is all that stands on it.
make_stand_ins() {
  local stamp
  stamp=$(echo "$PWD" && find Tests/StandIns -type f | LC_ALL=C sort | xargs cksum scripts/stand-ins.bash)
  [[ $stamp != "$(cat "$stand_ins_folder/stamp" 2>/dev/null)" ]] || return 0
  rm -rf "$stand_ins_folder" .build/{checkouts,repositories,workspace-state.json}
  mkdir -p "$stand_ins_folder/configuration"
  local author=(-c user.name=stand-in -c user.email=stand-in@localhost) mirrors= repository version stand_in
  # A mirror has to be a repository with versions.
  while read -r repository version; do
    stand_in=$stand_ins_folder/${repository#*/}
    cp -R "Tests/StandIns/${repository#*/}" "$stand_in"
    git -C "$stand_in" -c init.defaultBranch=main init --quiet
    git -C "$stand_in" add --all
    git -C "$stand_in" "${author[@]}" -c commit.gpgsign=false commit --quiet --message "Stand-in $version"
    git -C "$stand_in" "${author[@]}" -c tag.gpgsign=false tag "$version"
    mirrors+="${mirrors:+,}{\"original\": \"https://github.com/$repository.git\", \"mirror\": \"$stand_in\"}"
  done <<END
apple/swift-log 1.14.0
apple/swift-metrics 2.10.1
apple/swift-http-types 1.6.0
apple/swift-openapi-runtime 1.11.0
apple/swift-service-context 1.3.0
apple/swift-distributed-tracing 1.4.1
apple/swift-nio 2.86.0
swift-server/async-http-client 1.33.1
swift-server/swift-service-lifecycle 2.11.0
END
  # As `swift package config set-mirror` has it, which would write it into the work tree.
  echo "{\"object\": [$mirrors], \"version\": 1}" >"$stand_ins_folder/configuration/mirrors.json"
  printf '%s\n' "$stamp" >"$stand_ins_folder/stamp"
}

keep_versions() {
  versions=$1/Package.resolved
  kept_versions=
  [[ -e $versions ]] || return 0
  kept_versions=$(mktemp)
  mv -f "$versions" "$kept_versions"
}

restore_versions() {
  rm -f "$versions"
  [[ -z $kept_versions ]] || mv -f "$kept_versions" "$versions"
}
