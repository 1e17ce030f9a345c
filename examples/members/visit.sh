#!/bin/sh
# Crawls pages behind a login form.
#   MEMBERS_USER=me MEMBERS_PASSWORD=... ./visit.sh
set -eu
cd "$(dirname "$0")"
: "${MEMBERS_USER:?who? MEMBERS_USER=me MEMBERS_PASSWORD=... ./visit.sh}" "${MEMBERS_PASSWORD:?the password is missing}"

incrawl crawl seeds.txt --quiet "$@"
incrawl changes --since yesterday
