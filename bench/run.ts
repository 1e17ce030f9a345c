/**
 * `npm run bench -- [--only crawl|encodings|requests|generate|parts|..] [--pages N] [--real] [--protocol http|undici]
 * [--encoding mixed|identity|gzip|br] [--without PLUGIN,..] [--json]`: measures the built crawler and prints PASS or
 * FAIL for each bound. `--only peers [--rounds N] [--crawlee FOLDER] [--python PROGRAM]` crawls the same site by other
 * crawlers, `--only growth --sizes N,N,.. [--svg FILE]` crawls sites of several sizes.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { benchChanges } from './changes/changes.ts';
import { benchPostgres } from './cluster/postgres.ts';
import { benchShared } from './cluster/shared-costs.ts';
import { benchWorkers } from './cluster/workers.ts';
import { benchDocuments } from './content/documents.ts';
import { ENCODINGS, type Encoding } from './crawl/coded-bodies.ts';
import { benchCrawl, benchReadmit, type TwoCrawls } from './crawl/crawls.ts';
import { benchEncodings } from './crawl/encodings.ts';
import { benchGenerate } from './crawl/generate.ts';
import { benchGrowth } from './crawl/growth.ts';
import { benchInlinks } from './crawl/inlinks.ts';
import { benchParse } from './crawl/parse.ts';
import { benchParts } from './crawl/parts.ts';
import { benchRequests } from './crawl/requests.ts';
import { type Site, startSite } from './crawl/site-process.ts';
import { benchLarge } from './crawldb/large.ts';
import { benchStore } from './crawldb/store-options.ts';
import { benchExport } from './export/export.ts';
import { benchHadoop } from './hadoop/hadoop.ts';
import { benchCopies } from './near/copies.ts';
import { benchDedup } from './near/dedup.ts';
import { benchNear } from './near/near-groups.ts';
import { benchNearTables } from './near/near-tables.ts';
import { benchNeardup } from './near/neardup.ts';
import { benchRevisions } from './near/revisions.ts';
import { benchObjects } from './objects/objects.ts';
import { benchPeers } from './peers/peers.ts';
import { benchLiveView } from './questions/live-view.ts';
import { benchQuestions } from './questions/questions.ts';
import { benchRendering } from './rendering/rendering.ts';
import { benchTraps } from './traps/traps.ts';
import { benchSeen } from './urls/seen.ts';
import { benchSeenFp } from './urls/seen-fp.ts';
import { benchUrlRules } from './urls/url-rules.ts';

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '5000' },
    real: { type: 'boolean', default: false },
    only: { type: 'string' },
    protocol: { type: 'string', default: 'http' },
    without: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    seed: { type: 'string', default: '9' },
    articles: { type: 'string', default: '300' },
    encoding: { type: 'string', default: 'mixed' },
    rounds: { type: 'string', default: '5' },
    crawlee: { type: 'string' },
    python: { type: 'string', default: 'python3' },
    svg: { type: 'string' },
    fingerprints: { type: 'string', default: '10000000' },
    sizes: { type: 'string', default: '1000000,10000000' },
    state: { type: 'string' },
    store: { type: 'string', default: 'postgres://127.0.0.1/bench' },
    against: { type: 'string', default: '' },
    signature: { type: 'string', multiple: true, default: [] },
    labelled: { type: 'string', default: '' },
    documents: { type: 'string' },
    data: { type: 'string', multiple: true, default: [] },
    every: { type: 'string', default: '1' },
  },
});
const pages = Number(values.pages);
const rounds = Number(values.rounds);
/** Everything reported, printed as one object at the end with `--json`. */
const reported: { figures: string[]; verdicts: { pass: boolean; text: string }[]; crawls?: TwoCrawls } = {
  figures: [],
  verdicts: [],
};
const say = (text: string): void => {
  if (values.json) reported.figures.push(text);
  else process.stdout.write(`${text}\n`);
};
const verdict = (pass: boolean, text: string): void => {
  if (values.json) reported.verdicts.push({ pass, text });
  else say(`${pass ? 'PASS' : 'FAIL'}  ${text}`);
};

/** The site of all parts that crawl, or ask for pages. */
const site: Site = { pages, hosts: 5, make: values.real ? 'real' : 'small', encoding: encodingOf(values.encoding) };
const how = { protocol: values.protocol, without: values.without };

function encodingOf(name: string): Encoding {
  const encoding = ENCODINGS.find((each) => each === name);
  if (encoding !== undefined) return encoding;
  process.stderr.write(`--encoding ${name}: expected one of ${ENCODINGS.join(', ')}\n`);
  process.exit(2);
}

async function withSite(use: (origins: readonly string[]) => Promise<void>): Promise<void> {
  const running = await startSite(site);
  try {
    await use(running.origins);
  } finally {
    running.close();
  }
}

/** Parts are measured one by one or all in turn; peers, growth and encodings only when asked for. */
const isAsked = (part: string): boolean => values.only === undefined || values.only === part;

say(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown CPU'}`);
if (isAsked('crawl')) reported.crawls = await benchCrawl(say, verdict, site, how);
if (isAsked('readmit')) await benchReadmit(say, verdict, site, how);
if (values.only === 'peers')
  await benchPeers(say, verdict, site, { rounds, crawleeFolder: values.crawlee, python: values.python });
if (values.only === 'growth') {
  const sizes = values.sizes.split(',').map(Number);
  await benchGrowth(say, sizes, site, how, values.svg);
}
if (values.only === 'encodings') await benchEncodings(say, site, how, rounds);
if (isAsked('requests')) await withSite((origins) => benchRequests(say, origins));
if (isAsked('generate')) await benchGenerate(say, verdict);
if (values.only === 'inlinks') await benchInlinks(say, verdict, { pages, rounds });
if (isAsked('parts')) await withSite((origins) => benchParts(say, origins));
if (isAsked('parse')) await withSite((origins) => benchParse(say, verdict, origins));
if (values.only === 'documents') await benchDocuments(say, values.documents);
if (isAsked('seen')) await benchSeen(say, verdict);
if (isAsked('seen-fp')) await benchSeenFp(say, verdict, 10_000_000);
if (isAsked('near')) benchNear(verdict);
if (isAsked('dedup')) await benchDedup(say, verdict, Number(values.fingerprints));
if (values.only === 'hadoop') await benchHadoop(say, verdict, pages, values.state);
const signings = [
  ...[null, ...values.against.split(',').filter(Boolean)].map((build) => ({ build, options: {} })),
  ...values.signature.map((options) => ({ build: null, options: JSON.parse(options) as Record<string, unknown> })),
];
if (isAsked('neardup')) await benchNeardup(say, verdict, Number(values.articles), Number(values.seed), signings);
if (values.only === 'copies') await benchCopies(say, values.data, signings);
if (values.only === 'revisions') {
  const labelled = values.labelled.split(',').filter(Boolean);
  await benchRevisions(say, { labelled, every: Number(values.every), seed: Number(values.seed), signings });
}
if (values.only === 'workers') await benchWorkers(say, { store: values.store, pages, rounds });
if (values.only === 'shared') await benchShared(say, { pages, workers: values.sizes.split(',').map(Number) });
if (values.only === 'postgres') await benchPostgres(say, values.store, values.sizes.split(',').map(Number));
if (values.only === 'rendering') await benchRendering(say, verdict, { pages, rounds, crawlee: values.crawlee });
if (values.only === 'objects') await benchObjects(say, site);
if (isAsked('changes')) await benchChanges(say, verdict);
if (isAsked('questions')) await benchQuestions(say, verdict);
if (isAsked('live-view')) await benchLiveView(say, verdict);
if (isAsked('near-tables')) await benchNearTables(say, verdict);
if (isAsked('url-rules')) benchUrlRules(say, verdict);
if (isAsked('export')) await benchExport(say, verdict);
if (isAsked('traps')) await benchTraps(say, verdict);
if (values.only === 'large') {
  const sizes = values.sizes.split(',').map(Number);
  benchLarge(say, { sizes, state: values.state, svg: values.svg });
}
if (values.only === 'store') benchStore(say, values.state ?? '');
if (values.json) process.stdout.write(`${JSON.stringify({ node: process.version, ...reported })}\n`);
