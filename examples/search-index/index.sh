#!/bin/sh
# Crawls what is due, then brings a search index up to date: changed pages are sent, those that are gone deleted.
#   ./index.sh                                                          pages.sqlite, with a full-text index
#   FORMAT=opensearch INDEX=https://search.example:9200/pages ./index.sh
#   FORMAT=solr INDEX=https://solr.example:8983/solr/pages ./index.sh
set -eu
cd "$(dirname "$0")"

incrawl crawl seeds.txt --quiet "$@"
# --force: on quiet days there is nothing to export.
incrawl export --format "${FORMAT:-sqlite}" --output "${INDEX:-pages.sqlite}" --force \
  --since "$(cat exported 2>/dev/null || echo 0)" --json > answer.json
node -p 'JSON.parse(fs.readFileSync(0)).seq' < answer.json > exported.new
mv exported.new exported
