import { z } from 'zod';
import { MAX_CHARS, MAX_RESTLESS } from '../../core/domain/crawl/change/block-memory.ts';
import { type ChangeBelief, MAX_CHURN } from '../../core/domain/crawl/change/change-belief.ts';
import type { ChangeRow } from '../../core/domain/crawl/change/change-feed.ts';
import { CHANGE_KINDS } from '../../core/domain/crawl/change/page-change.ts';
import type {
  ForwardedLink,
  InboxItem,
  InboxRow,
  OutboxRow,
} from '../../core/domain/crawl/discovery/forwarded-link.ts';
import { GROUPS } from '../../core/domain/crawl/hazard/expectation.ts';
import { type HostClock, MAX_EPOCHS } from '../../core/domain/crawl/hazard/host-clock.ts';
import { MAX_INPUTS, type RenderedCopy, type RenderTrials } from '../../core/domain/crawl/rendering/render-trials.ts';
import { CRAWL_STATES, type CrawlDatum, DUE_CAUSES, VISIT_OUTCOMES } from '../../core/domain/crawl/states/datum.ts';
import { LAST_LATENCY_STEP } from '../../core/domain/crawl/states/host-traffic.ts';
import { TRUNCATIONS } from '../../core/domain/crawl/states/truncation.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import type { DomainFamilies } from '../../core/domain/url/families/stored-families.ts';
import { PARTITIONS } from '../../core/domain/url/hash/partition.ts';
import type { HostFacts, SegmentRow, StoredLinks } from '../../core/ports/crawl-db.ts';
import type { ForwardingBatch, ForwardingMarks } from '../../core/ports/partitions/forwarding.ts';
import { MAX_SIBLINGS } from '../../page/diff/block-prints.ts';
import { isSketch } from '../../page/near/page-dimensions.ts';

/**
 * Version of the lines below. It is raised for a change that earlier versions cannot read; {@link parseDumpLine} then
 * converts lines of the previous version.
 */
export const DUMP_VERSION = 1;

/**
 * One line of a crawl db as text. The first line is the header, the last (`end`) has the counts, which show whether
 * the file is whole. Times are milliseconds since the epoch.
 */
export type DumpLine =
  | { readonly incrawl: 'crawldb'; readonly version: number; readonly exportedAt: string }
  | { readonly record: CrawlDatum }
  | { readonly links: StoredLinks }
  | { readonly families: DomainFamilies }
  | { readonly host: { readonly host: string; readonly facts: HostFacts } }
  | { readonly meta: { readonly name: string; readonly value: string } }
  | { readonly segment: SegmentRow }
  | { readonly lease: { readonly url: string; readonly segment: string } }
  | { readonly change: ChangeRow }
  /** After the entries: the last number that the change feed has assigned. */
  | { readonly feed: { readonly last: number } }
  | ForwardingLine
  | { readonly end: DumpCounts };

export interface DumpCounts {
  readonly records: number;
  readonly links: number;
  readonly hosts: number;
  /** Entries of the change feed. */
  readonly changes: number;
}

const time = z.number().finite();
const maybeTime = time.nullable();
const text = z.string().nullable();
const milliseconds = z.number().nonnegative();

const visit = z.strictObject({
  at: time,
  outcome: z.enum(VISIT_OUTCOMES),
  distance: z.number().nullable(),
  elapsedMs: z.number().nullable(),
  bytes: z.number(),
  intervalMs: milliseconds,
});

const word = z.number().int().min(0).max(0xffff_ffff);

const churn = z.number().int().min(0).max(MAX_CHURN);

const sibling = z.strictObject({
  print: z.number().int().min(0).max(0xffff),
  churn,
  chars: z.number().int().min(0).max(MAX_CHARS),
  isRewritten: z.boolean(),
});

const blocks = z.strictObject({
  blocks: z
    .array(
      z.strictObject({
        key: word,
        print: word,
        isMain: z.boolean(),
        churn,
        siblings: z
          .array(sibling)
          .max(MAX_SIBLINGS + MAX_RESTLESS)
          .exactOptional(),
      }),
    )
    .max(0xff),
  changed: z.array(z.string()),
  volatile: z.array(z.string()),
  places: z.base64(),
  contentChars: z.number().int().nonnegative(),
  isCalm: z.literal(true).exactOptional(),
});

const number = z.number();

/** What the visits of a page have shown about its changes, as stored in a dump. */
const changeBelief = z.strictObject({
  changes: number,
  watchedMs: number,
  newUrls: number,
  noise: number,
  mostMs: number.nullable(),
}) satisfies z.ZodType<ChangeBelief>;

/** What a rendered copy was made from, as stored in a dump. */
const renderedCopy = z.strictObject({
  digest: z.string(),
  inputs: z
    .array(z.strictObject({ url: z.string(), etag: text, lastModified: text, digest: z.string() }))
    .max(MAX_INPUTS),
}) satisfies z.ZodType<RenderedCopy>;

const record = z.strictObject({
  url: z.string(),
  state: z.enum(CRAWL_STATES),
  discoveredAt: time,
  referrer: text,
  depth: z.number().int().nonnegative(),
  seed: z.boolean(),
  score: z.number(),
  lastFetchAt: maybeTime,
  nextFetchAt: maybeTime,
  dueBy: z.enum(DUE_CAUSES).nullable(),
  changedAt: maybeTime,
  schedule: z.strictObject({
    intervalMs: milliseconds,
    belief: changeBelief.nullable(),
  }),
  fixedIntervalMs: milliseconds.nullable(),
  failures: z.number().int().nonnegative(),
  lastError: z.strictObject({ code: z.string(), message: z.string(), at: time }).nullable(),
  httpStatus: z.number().int().nullable(),
  contentType: text,
  robotsTag: text,
  validators: z.strictObject({ etag: text, lastModified: text, contentLength: z.number().nullable() }),
  digest: text,
  truncated: z.enum(TRUNCATIONS).nullable(),
  signature: text,
  changeSignature: text,
  changeDigest: z
    .string()
    .regex(/^[0-9a-f]{8}$/, 'expected 8 hex digits')
    .nullable(),
  sketch: z.string().refine(isSketch, 'expected the 70 hex digits of a sketch').nullable(),
  signatureName: text,
  title: text,
  textChars: z.number().int().nonnegative().nullable(),
  stated: z
    .strictObject({ authors: z.array(z.string()), publishedAt: maybeTime, modifiedAt: maybeTime, lang: text })
    .nullable(),
  blocks: blocks.nullable(),
  rendered: renderedCopy.nullable(),
  target: text,
  visits: z.array(visit),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
}) satisfies z.ZodType<CrawlDatum>;

const count = z.number().int().nonnegative();

const amount = z.number().nonnegative();

const level = z.strictObject({ changes: amount, watchedMs: amount, observedMs: amount, at: time.nullable() });

const group = z
  .number()
  .int()
  .min(0)
  .max(GROUPS - 1);

/** The observed changes of a host's pages, as stored in a dump. */
const hostClock = z.strictObject({
  level,
  groups: z.array(z.strictObject({ number: group, level, pages: z.number().int().nonnegative(), lookedAt: time })),
  epochs: z
    .array(
      z.strictObject({
        from: time,
        to: time,
        found: z.array(z.strictObject({ group, observed: amount, expected: amount, visits: amount })),
      }),
    )
    .max(MAX_EPOCHS),
}) satisfies z.ZodType<HostClock>;

/** What rendering has shown about a host, as stored in a dump. */
const renderTrials = z.strictObject({
  pattern: z.string(),
  renders: count,
  gains: count,
  misses: count,
  at: z.number().finite(),
}) satisfies z.ZodType<RenderTrials>;

const facts = z.strictObject({
  audits: z.number(),
  lies: z.number(),
  distrustedUntil: maybeTime,
  conditionalHits: z.number(),
  conditionalMisses: z.number(),
  headHits: z.number(),
  headMisses: z.number(),
  bytesSaved: z.number(),
  hintHits: z.number(),
  hintMisses: z.number(),
  nothing: z
    .strictObject({ at: time, signature: text, signatureName: text, textChars: z.number().int().nonnegative() })
    .nullable(),
  restUntil: maybeTime,
  clock: hostClock.nullable(),
  traffic: z
    .strictObject({
      visits: count,
      dnsFailures: count,
      connectionFailures: count,
      timeouts: count,
      receivedBytes: count,
      latency: z.strictObject({
        first: count.max(LAST_LATENCY_STEP),
        counts: z.array(count).max(LAST_LATENCY_STEP + 1),
      }),
    })
    .nullable(),
  rendering: z.array(renderTrials).nullable(),
  missing: z
    .strictObject({
      times: count,
      at: time,
      folders: z.array(z.strictObject({ folder: count, missing: count, found: count })),
    })
    .nullable(),
  fetchesOfDay: z.strictObject({ day: count, fetches: count }).nullable(),
});

const families = z.strictObject({
  domain: z.string().min(1),
  appliedAt: time,
  families: z.array(
    z.strictObject({
      leader: z.string(),
      size: z.number().int().positive(),
      isNoise: z.boolean(),
      similarityToNoise: z.number().min(0).max(1),
      visited: z.strictObject({ template: z.string(), visits: count }).exactOptional(),
    }),
  ),
}) satisfies z.ZodType<DomainFamilies>;

const seq = z.number().int().positive();

const change = z.strictObject({
  seq,
  notedAt: time,
  kind: z.enum(CHANGE_KINDS),
  url: z.string(),
  at: time,
  state: z.enum(CRAWL_STATES),
  status: z.number().int().nullable(),
  distance: z.number().nullable(),
  target: text,
  title: text,
  blocks: z.array(z.string()).exactOptional(),
  contentType: z.string().exactOptional(),
}) satisfies z.ZodType<ChangeRow>;

const forwarded = z.strictObject({
  url: z.string(),
  from: z.string(),
  depth: count,
  at: z.number().finite(),
  score: z.number(),
  plainScore: z.number(),
  noise: z.string().nullable(),
  redirects: count,
  layers: count.nullable(),
}) satisfies z.ZodType<ForwardedLink>;

const sender = z.string().regex(/^[\w-]+$/);

const item = z.union([
  z.strictObject({ links: z.array(forwarded) }),
  z.strictObject({ seeds: z.array(z.string()) }),
  z.strictObject({ seedHosts: z.array(z.string()) }),
  z.strictObject({ order: z.strictObject({ command: z.string(), args: z.array(z.unknown()) }) }),
]) satisfies z.ZodType<InboxItem>;

const forwardingSchemas = [
  z.strictObject({
    outbox: z.strictObject({ to: count.max(PARTITIONS - 1), number: count.positive(), links: z.array(forwarded) }),
  }),
  z.strictObject({ inbox: z.strictObject({ from: sender, number: count, item }) }),
  z.strictObject({ waiting: forwarded }),
  z.strictObject({
    forwarding: z.strictObject({
      lastSent: count,
      received: z.array(z.strictObject({ from: sender, through: count })),
    }),
  }),
] as const;

const line = z.union([
  z.strictObject({ record }),
  z.strictObject({ links: z.strictObject({ url: z.string(), targets: z.array(z.string()) }) }),
  z.strictObject({ families }),
  z.strictObject({ host: z.strictObject({ host: z.string(), facts }) }),
  z.strictObject({ meta: z.strictObject({ name: z.string(), value: z.string() }) }),
  z.strictObject({
    segment: z.strictObject({
      id: z.string(),
      state: z.enum(['generated', 'updated']),
      createdAt: time,
      urls: z.number(),
      applied: z.number(),
    }),
  }),
  z.strictObject({ lease: z.strictObject({ url: z.string(), segment: z.string() }) }),
  z.strictObject({ change }),
  z.strictObject({ feed: z.strictObject({ last: seq }) }),
  ...forwardingSchemas,
  z.strictObject({
    end: z.strictObject({
      records: z.number(),
      links: z.number(),
      hosts: z.number(),
      changes: z.number(),
    }),
  }),
  z.strictObject({ incrawl: z.literal('crawldb'), version: z.number().int().min(1), exportedAt: z.string() }),
]) satisfies z.ZodType<DumpLine>;

/** Schemas of lines by their first field, so that an error names the wrong field instead of all alternatives. */
const BY_FIELD = new Map(line.options.map((option) => [Object.keys(option.shape)[0] as string, option]));

/** Parses one line. Throws `CrawlError('usage-invalid')` with the line number and what the line must hold. */
export function parseDumpLine(text: string, number: number): DumpLine {
  const refuse = (what: string): never => {
    throw new CrawlError('usage-invalid', `line ${number}: ${what}`);
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse(`a line of JSON was expected (${(error as Error).message})`);
  }
  const [field = ''] = Object.keys((value ?? {}) as object);
  const schema = BY_FIELD.get(field);
  if (schema === undefined) return refuse(`one of ${[...BY_FIELD.keys()].join(', ')} was expected, got "${field}"`);
  const read = schema.safeParse(value);
  // The value itself: the schema's output has lost names such as `__proto__`.
  if (read.success) return value as DumpLine;
  const [issue] = read.error.issues;
  return refuse(`${issue?.path.join('.')}: ${issue?.message}`);
}

/** Lines of links from and to other partitions. */
export type ForwardingLine =
  | { readonly outbox: OutboxRow }
  | { readonly inbox: InboxRow }
  /** A link from another partition that waits for the share of its family. */
  | { readonly waiting: ForwardedLink }
  | { readonly forwarding: ForwardingMarks };

export const isForwarding = (line: object): line is ForwardingLine =>
  'outbox' in line || 'inbox' in line || 'waiting' in line || 'forwarding' in line;

/** The part of a batch that writes the lines unchanged. */
export function restoring(lines: readonly ForwardingLine[]): ForwardingBatch {
  const marks = lines.flatMap((line) => ('forwarding' in line ? [line.forwarding] : []))[0];
  return {
    wait: lines.flatMap((line) => ('waiting' in line ? [line.waiting] : [])),
    restore: {
      outbox: lines.flatMap((line) => ('outbox' in line ? [line.outbox] : [])),
      inbox: lines.flatMap((line) => ('inbox' in line ? [line.inbox] : [])),
      ...(marks !== undefined && { marks }),
    },
  };
}
