#!/bin/sh
# Crawls what is due, then prints each price that has changed since the last run.
set -eu
cd "$(dirname "$0")"

incrawl crawl seeds.txt --quiet "$@"
incrawl readdb --where "metadata.price.amount != null" --fields url,title,metadata.price.amount,metadata.price.currency \
  --format jsonl > found.jsonl
node changed-prices.mjs < found.jsonl
