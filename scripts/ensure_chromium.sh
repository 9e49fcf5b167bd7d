#!/bin/sh
# Browser tests drive Chromium. Where there is none, and this may be done, install Debian's; where it can't, say why and
# go on: those tests then skip. Never fails.

for name in "${GEOSLEUTH_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
  if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1; then exit 0; fi
done

skip() {
  echo "Browser tests will be skipped: there is no Chromium, and $1." >&2
  echo "To run them, install it (Debian: apt-get install chromium) or set GEOSLEUTH_CHROMIUM to its path." >&2
  exit 0
}

command -v apt-get >/dev/null 2>&1 || skip "this system has no apt-get to install it with"
[ "$(id -u)" = 0 ] || skip "only root may install it"

log=$(mktemp) || skip "there is no room for a log"
trap 'rm -f "$log"' EXIT
echo "Installing Chromium for the browser tests." >&2
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install --yes --quiet --no-install-recommends chromium >"$log" 2>&1; }
install || { apt-get update --quiet >"$log" 2>&1 && install; } || skip "apt-get could not install it: $(tail -n 1 "$log")"
command -v chromium >/dev/null 2>&1 || skip "the package brought no chromium command"
