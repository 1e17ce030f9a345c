import { spawnSync } from 'node:child_process';

const FEEDPARSER = `
import json, sys, feedparser
feed = feedparser.parse(sys.stdin.buffer.read())
print(json.dumps({"bozo": bool(feed.bozo), "version": feed.version, "title": feed.feed.title, "updated": feed.feed.updated,
  "entries": [{key: entry[key] for key in ("id", "title", "link", "summary", "updated", "published")} for entry in feed.entries]}))`;
const EXPAT = 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.stdin.buffer)';

/** Of Debian's python3-feedparser, which belongs to the Python of the system. */
const PYTHON = '/usr/bin/python3';
export const HAS_FEEDPARSER = spawnSync(PYTHON, ['-c', 'import feedparser']).status === 0;

const STRICT: readonly (readonly [string, readonly string[]])[] = [
  ['xmllint', ['--noout', '-']],
  ['python3', ['-c', EXPAT]],
];
const strict = STRICT.find(([command]) => spawnSync(command, ['--version']).status === 0);
export const HAS_XML_PARSER = strict !== undefined;

/** What a strict XML parser has against a document; empty for nothing. */
export function xmlFaults(document: string): string {
  const [command, args] = strict!;
  const { status, stderr } = spawnSync(command, args, { input: document, encoding: 'utf8' });
  return status === 0 ? '' : stderr;
}

export interface ParsedFeed {
  readonly bozo: boolean;
  readonly version: string;
  readonly title: string;
  readonly updated: string;
  readonly entries: readonly Readonly<Record<'id' | 'title' | 'link' | 'summary' | 'updated' | 'published', string>>[];
}

/** A feed as the library of many feed readers reads it. */
export function readAsFeedReader(document: string): ParsedFeed {
  const { stdout } = spawnSync(PYTHON, ['-c', FEEDPARSER], { input: document, encoding: 'utf8' });
  return JSON.parse(stdout) as ParsedFeed;
}
