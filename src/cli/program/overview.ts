/** The help of the program: its commands by what a person wants to do. One screen; each command has its own help. */
export function overview(description: string): string {
  const width = Math.max(...GROUPS.flatMap(([, lines]) => lines.map(([names]) => names.length)));
  return [
    'Usage: incrawl COMMAND [options]',
    ...description.split('\n'),
    '',
    ...GROUPS.flatMap(([heading, lines]) => [
      `${heading}:`,
      ...lines.map(([names, text]) => `  ${names.padEnd(width)}  ${text}`),
    ]),
    '',
    'Every command takes --dir DIR, --config FILE, -D KEY=VALUE, --json, -q and -v.',
    '"incrawl COMMAND --help" has its options and examples; "incrawl help TOPIC"',
    'explains changes, commands, config, errors, findings, query, skips, states.',
  ].join('\n');
}

type Line = readonly [names: string, text: string];

/** Each command has one line. */
const GROUPS: readonly (readonly [heading: string, lines: readonly Line[]])[] = [
  [
    'Crawl',
    [
      ['demo, init', 'a bundled site that changes; write a configuration'],
      ['crawl, schedule, watch', 'until nothing is due; by a timetable; single pages'],
      ['due', 'touch, retry, sitemap: make URLs due'],
      ['top, serve, ctl', 'watch at a terminal, in a browser; steer'],
      ['work, partitions', 'a crawl of several workers, and where it lies'],
    ],
  ],
  [
    'Step by step',
    [
      ['inject, generate, fetch', 'seeds, a fetch list, its pages'],
      ['parse, updatedb, reparse', 'texts and links, states; stored pages anew'],
    ],
  ],
  [
    'Ask',
    [
      ['readdb, explain', 'records by any field; why a URL is fetched or not'],
      ['changes, diff', 'what changed; which words'],
      ['skipped, readseg', 'what was not fetched; what a round fetched'],
      ['forecast', 'plan: visits to come; simulate: other schedules'],
      ['duplicates', 'near: pages like a page; families: like URLs'],
      ['check', 'try a URL, a page, robots.txt or a sitemap'],
    ],
  ],
  [
    'Take out, keep safe',
    [
      ['export, mirror', 'to other tools; a copy that opens in a browser'],
      ['dedup, mr', 'duplicates; Hadoop jobs'],
      ['state', 'verify, repair, backup, restore, prune'],
      ['db', 'export, import, merge, repartition'],
    ],
  ],
  [
    'Set up',
    [
      ['config, plugins, packages', 'settings in force; plugins; optional packages'],
      ['cookies, completion, help', 'kept cookies; for your shell; topics'],
    ],
  ],
];
