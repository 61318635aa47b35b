#!/usr/bin/env bash
# Installs the Debian packages of the named sections of packages.txt that are missing; does nothing when none is.
#
# usage: tools/install_packages.sh [--list] SECTION...      (sections: build, test, lint)
#
# Needs root or sudo only when something is missing. On a system without apt it prints what is needed and goes on, so
# that tools installed in another way are used. --list prints the missing packages and installs nothing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
say() { printf 'hearth: %s\n' "$*" >&2; }

list_only=no
if [ "${1:-}" = --list ]; then list_only=yes; shift; fi
[ $# -gt 0 ] || { say "usage: tools/install_packages.sh [--list] SECTION... (build, test, lint)"; exit 2; }
for wanted in "$@"; do
  case $wanted in build | test | lint) ;; *) say "packages.txt has no section '$wanted'"; exit 2 ;; esac
done

# What was found complete once is not looked up again until the list changes.
stamps=()
for wanted in "$@"; do stamps+=("$root/build/.packages-$wanted"); done
complete=yes
for stamp in "${stamps[@]}"; do [ "$stamp" -nt "$root/packages.txt" ] || complete=no; done
if [ $complete = yes ] && [ $list_only = no ]; then exit 0; fi
remember() {
  if [ $list_only = no ]; then mkdir -p "$root/build" && touch "${stamps[@]}"; fi
}

# Reads the list: every package of a wanted section, less those whose stand-in command exists.
packages=()
while read -r section package command _; do
  [[ " $* " == *" $section "* ]] || continue
  if [ -n "$command" ] && [ "$command" != '#' ] && command -v "$command" >/dev/null; then continue; fi
  packages+=("$package")
done < <(sed 's/#.*//' "$root/packages.txt")
[ ${#packages[@]} -gt 0 ] || { remember; exit 0; }

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  say "this is not a Debian system, so nothing is installed by itself. Needed, under their Debian names:"
  say "  ${packages[*]}"
  exit 0
fi

installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF "$package installed" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || { remember; exit 0; }
if [ $list_only = yes ]; then printf '%s\n' "${missing[@]}"; exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    say "these packages are missing, and installing them needs root or sudo:"
    say "  apt-get install ${missing[*]}"
    exit 1
  fi
  as_root=(sudo)
fi
say "installing ${#missing[@]} missing Debian packages (for: $*): ${missing[*]}"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300 "$@" </dev/null >>"$log" 2>&1
}
# The package index is fetched only when it lacks one of the names or an install from it fails (an outdated index).
known() { apt-cache show --no-all-versions "${missing[@]}" >/dev/null 2>&1; }
updated=no
if ! known; then
  say "fetching the package index"
  apt update || { cat "$log" >&2; say "apt-get update failed; the packages still missing: ${missing[*]}"; exit 1; }
  updated=yes
fi
if ! apt install --no-install-recommends "${missing[@]}"; then
  if [ $updated = no ]; then
    say "the package index is old; fetching it and trying again"
    apt update || true
  fi
  if [ $updated = yes ] || ! apt install --no-install-recommends "${missing[@]}"; then
    tail -n 30 "$log" >&2
    say "apt-get could not install: ${missing[*]}"
    exit 1
  fi
fi
remember
