// Lines of JSON, as of "incrawl changes --format jsonl", become a mail in plain text: node mail.mjs TO < changes.jsonl
import { readFileSync } from 'node:fs';

const changes = readFileSync(0, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line));
const hosts = [...new Set(changes.map(({ url }) => new URL(url).host))];

// Titles are of strangers: no line end of theirs may begin a header.
const oneLine = (text) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

const subject = `${changes.length} changes on ${hosts.slice(0, 3).join(', ')}${hosts.length > 3 ? ', ..' : ''}`;
const lines = changes.map(({ kind, url, title, target, blocks = [] }) =>
  [
    `${kind}: ${oneLine(title ?? '')}`,
    `  ${url}`,
    target && `  now at ${target}`,
    blocks.length && `  in ${blocks.join(', ')}`,
  ]
    .filter(Boolean)
    .join('\n'),
);
console.log(`To: ${oneLine(process.argv[2])}
Subject: ${oneLine(subject)}
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

${lines.join('\n\n')}`);
