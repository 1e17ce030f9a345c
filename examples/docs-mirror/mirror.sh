#!/bin/sh
# Crawls what is due, then brings a folder of Markdown up to date: changed pages are written, those that are gone deleted.
set -eu
cd "$(dirname "$0")"

incrawl crawl seeds.txt --quiet "$@"
incrawl export --format markdown --since "$(cat exported 2>/dev/null || echo 0)" --output docs/ --json > answer.json
node -p 'JSON.parse(fs.readFileSync(0)).seq' < answer.json > exported.new
mv exported.new exported
