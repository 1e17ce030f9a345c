#!/bin/sh
# Crawls what is due, then mails what is new, changed or gone since the last mail.
#   MAILTO=you@example.net ./watch.sh
set -eu
cd "$(dirname "$0")"
: "${MAILTO:?to whom? MAILTO=you@example.net ./watch.sh}"

incrawl crawl seeds.txt --quiet "$@"

# The first run finds everything new: it only notes where the feed ends.
last=$(incrawl changes --limit 1 --json | node -p 'JSON.parse(fs.readFileSync(0))[0]?.seq ?? 0')
if [ -e mailed ]; then
  # Changes of less than four bits are dates and counters.
  incrawl changes --since "$(cat mailed)" --kind new,modified,moved,gone,back --min-distance 4 --format jsonl > changes.jsonl
  if [ -s changes.jsonl ]; then
    node mail.mjs "$MAILTO" < changes.jsonl | "${SENDMAIL:-sendmail}" -t
  fi
fi
echo "$last" > mailed.new && mv mailed.new mailed
