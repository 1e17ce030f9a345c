// query/pages/: explanations of URLs, and what the segments hold.

import { dayBoundsByHost, layersByHost } from '../../core/config/hosts/host-bounds.ts';
import type { Config } from '../../core/config/schema.ts';
import { parseHttpDate } from '../../core/domain/crawl/headers/header-fields.ts';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import { explainUrlChain, sharingGate } from '../../core/plugin-host/url-chain.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { RobotsVerdict } from '../../core/ports/robots.ts';
import { openExpectations } from '../../core/steps/facts/expected-changes.ts';
import { withVisitPrice } from '../../core/steps/facts/fetch-budget.ts';
import { HostDays, untilTomorrow } from '../../core/steps/facts/host-observations.ts';
import { openHostTurns } from '../../core/steps/facts/host-rest.ts';
import { openNewSettings } from '../../core/steps/generate/settings-in-force.ts';
import { SEED_HOSTS_KEY } from '../../core/steps/inject.ts';
import { UrlAdmission } from '../../core/steps/update/admission.ts';
import { LinkFamilies } from '../../core/steps/update/link-treatment.ts';
import { checkRobots } from '../../http/robots/robots.ts';
import type { QuestionPlugins } from '../../operations/deps.ts';
import { scheduleSettings } from '../../operations/loop/step-settings.ts';
import { lastSkips } from '../../operations/reports/skip-report.ts';
import { domainOf } from '../../operations/system/domain-of.ts';
import { type Explanation, explain, type TrailStep } from '../records/explain.ts';
import type { OutlookInput } from '../records/explain-outlook.ts';

export interface ExplainDeps {
  readonly config: Config;
  readonly plugins: QuestionPlugins;
  readonly db: CrawlDb;
  /** State directory, absolute. */
  readonly dir: string;
  /** Ms since the epoch. */
  readonly now: number;
}

/** Explains one URL from everything stored about it, by point reads; sends no request. */
export async function explainUrl(deps: ExplainDeps, input: string): Promise<Explanation> {
  const { db, dir, now } = deps;
  const { loaded, policy } = deps.plugins;
  const seedHosts = new Set(JSON.parse((await db.meta(SEED_HOSTS_KEY)) ?? '[]') as string[]);
  const chain = explainUrlChain(loaded, input, { from: null, depth: 0, seedHosts });
  const canonical = canonicalUrl(input);
  // A URL that a filter refuses now may have an older record, under its normalized form.
  const refused = 'url' in canonical ? (chain.steps.at(-1)?.before ?? canonical.url) : null;
  const named = chain.url ?? refused;
  const found = named === null ? undefined : await db.get(named);
  // Or under its canonical form, from before the normalizers changed; that form is refused as well.
  const former =
    found === undefined && 'url' in canonical && named !== canonical.url ? await db.get(canonical.url) : undefined;
  const record = found ?? former;
  const settings = await openNewSettings(db, scheduleSettings(deps.config), policy, now);
  const [put] = settings !== null && isLater(record, now) ? await settings.moved([record.url]) : [];
  const datum = put?.datum ?? record;
  const stored = former?.url ?? named;
  const [lease] = stored === null ? [undefined] : await db.leases([stored]);
  const [host] = stored === null ? [undefined] : await db.hostRows([hostOf(stored)]);
  const lastModified = datum?.validators.lastModified ?? null;
  const priced = await withVisitPrice(db, policy);
  const expected = (await openExpectations(db, policy.schedule, now))?.(host?.facts);
  return explain({
    input,
    url: former === undefined ? chain.url : null,
    steps: chain.steps,
    reason:
      former === undefined || chain.url === null ? chain.reason : `the URL normalisers turn it into ${chain.url} now`,
    robots: stored === null ? undefined : await storedVerdict(deps, stored),
    datum,
    lease,
    host,
    hostTurnAt: stored === null ? null : await lateTurnOf(deps, hostOf(stored)),
    hostDayUsed: stored === null ? null : await usedDayOf(deps, hostOf(stored)),
    // Under a budget, intervals depend on the price of a visit.
    policy: { ...priced, ...(expected !== undefined && { expected }) },
    lastModifiedAt: lastModified === null ? null : parseHttpDate(lastModified),
    now,
    layers:
      stored === null ? Number.POSITIVE_INFINITY : (layersByHost(deps.config)?.(stored) ?? Number.POSITIVE_INFINITY),
    movedFrom: put?.previous?.nextFetchAt ?? null,
    mostAudits: deps.config.fetch.auditShare,
    family: stored === null ? null : await familyOf(deps, stored),
    trail: datum === undefined ? [] : await trailOf(db, datum),
    representative: datum?.state === 'duplicate' && datum.target !== null ? await db.get(datum.target) : undefined,
    skipped: stored === null ? [] : await lastSkips(dir, new Set([stored, input]), SKIPS),
    share: stored === null || datum !== undefined ? null : await shareOf(deps, stored),
    variants: stored === null || datum !== undefined ? null : await variantsOf(deps, stored),
  });
}

/** Whether the page was to be due later, so that new settings move its next visit. */
const isLater = (datum: CrawlDatum | undefined, now: number): datum is CrawlDatum =>
  datum !== undefined && datum.nextFetchAt !== null && datum.nextFetchAt > now;

/** The next turn of a host if it is later than a round waits; otherwise `null`. */
async function lateTurnOf({ db, config, now }: ExplainDeps, host: string): Promise<number | null> {
  const at = (await openHostTurns(db, now)).get(host);
  return at === undefined || at <= now + config.fetch.hostWaitMs ? null : at;
}

/** Why a host gets no more requests today; `null`: it may get some. */
async function usedDayOf({ db, config, now }: ExplainDeps, host: string): Promise<string | null> {
  const days = new HostDays(db, dayBoundsByHost(config), now);
  await days.meet(host);
  const reason = days.againAt(host) === null ? null : days.reasonOf(host);
  return reason === null ? null : untilTomorrow(reason, now);
}

/** Entries of the skip report that an explanation shows. */
const SKIPS = 5;
/** Maximum number of referrers looked up on the way from a seed. */
const MAX_TRAIL = 50;

async function trailOf(db: CrawlDb, datum: CrawlDatum): Promise<TrailStep[]> {
  const trail: TrailStep[] = [];
  const met = new Set([datum.url]);
  let next = datum.referrer;
  while (next !== null && trail.length < MAX_TRAIL && !met.has(next)) {
    met.add(next);
    const page: CrawlDatum | undefined = await db.get(next);
    if (page === undefined) break;
    trail.push({ url: page.url, depth: page.depth, state: page.state });
    next = page.referrer;
  }
  return trail;
}

async function familyOf({ db, config }: ExplainDeps, url: string): Promise<OutlookInput['family']> {
  const { noise: treatment } = config.linkclusters;
  const [match] = await new LinkFamilies({ db, domainOf, treatment }).match([url]);
  if (match === null || match === undefined) return null;
  const { family, similarity } = match;
  const { leader, size, similarityToNoise, visited = null } = family;
  return { domain: domainOf(hostOf(url)), leader, size, similarity, similarityToNoise, visited, treatment };
}

async function variantsOf({ db, config }: ExplainDeps, url: string): Promise<OutlookInput['variants']> {
  const { maxVariantsPerPath: max, beyondVariants: beyond } = config.outlinks;
  const mark = url.indexOf('?');
  if (mark < 0 || max === 0 || beyond === 'follow') return null;
  let known = 0;
  for await (const _ of db.scan({ prefix: url.slice(0, mark + 1), limit: max })) known++;
  return { known, max, beyond };
}

/** Judged like the crawl does, from the same records. */
function shareOf({ db, plugins, now }: ExplainDeps, url: string): Promise<OutlookInput['share']> {
  const gate = sharingGate(plugins.loaded, { warn: () => {} }, () => now);
  return new UrlAdmission(db, [], gate).explain(url);
}

/** The verdict of the stored copy of robots.txt; `undefined`: no copy is stored. */
async function storedVerdict({ config, plugins }: ExplainDeps, url: string): Promise<RobotsVerdict | undefined> {
  const copy = await plugins.robotsStore.load(new URL(url).origin);
  if (copy === undefined) return undefined;
  const isUsable = copy.usableAt !== null;
  const { allowed, rule, crawlDelay, sitemaps } = checkRobots({
    robots: copy.text,
    agent: config.agent.name,
    url,
  });
  return {
    allowed: isUsable && allowed,
    code: !isUsable ? 'robots-unreachable' : allowed ? null : 'robots-denied',
    fault: copy.fault ?? null,
    rule,
    crawlDelayMs: crawlDelay === null ? null : crawlDelay * 1_000,
    sitemaps,
    status: copy.status,
    fetchedAt: copy.fetchedAt,
  };
}
