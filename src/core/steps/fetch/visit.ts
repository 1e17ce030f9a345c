import {
  areClaimsKept,
  areClaimsKeptBy304,
  type ConditionRecord,
  claimsOf,
  conditionalHeaders,
  type HeaderRecord,
  isOfAnotherVersion,
  type ProbePlan,
  planProbe,
  saysUnchanged,
  validatorsOf,
  variesFreely,
  wouldHaveSkipped,
} from '../../domain/crawl/headers/ladder.ts';
import { NO_VALIDATORS, type Validators } from '../../domain/crawl/states/datum.ts';
import type { AuditVerdict } from '../../domain/crawl/states/outcome.ts';
import { isPartial } from '../../domain/crawl/states/truncation.ts';
import { CrawlError, type ErrorCode } from '../../domain/errors.ts';
import { elapsedOf } from '../../ports/clock.ts';
import type { Exchange, FetchProtocol, ResponseHead } from '../../ports/fetch-protocol.ts';
import type { FetchItem, WireResponse } from '../../ports/segment-store.ts';
import {
  type Account,
  costs,
  failed,
  notOk,
  type OpenVisit,
  observationOrNull,
  unchanged,
  type VisitDeps,
  type VisitOptions,
  type VisitResult,
  wireResponse,
} from './visit-result.ts';

/** 206: no request asks for a range, so such an answer is not the page. */
const PARTIAL_CONTENT = 206;

function truncationOfBody({ head, truncated, brokenOff }: Exchange): WireResponse['truncated'] {
  if (brokenOff) return 'disconnect';
  if (head.status === PARTIAL_CONTENT) return 'unspecified';
  return truncated && 'length';
}

/** A visit to be retried. What came is stored as evidence, and is no copy of the page. */
function incomplete(visit: OpenVisit, result: Exchange, truncated: WireResponse['truncated']): VisitResult {
  const { deps, item } = visit;
  const at = deps.clock.now();
  return {
    outcome: {
      kind: 'failed',
      code: 'body-incomplete',
      message: lackOf(result),
      status: result.head.status,
      retryAt: null,
      at,
      ...costs(visit),
    },
    response: wireResponse(item.url, at, result.head, result.wireBody, truncated, null),
    body: null,
    headers: result.head.headers,
    observation: null,
  };
}

function lackOf({ head, bodyBytes, brokenOff }: Exchange): string {
  if (!brokenOff) return `status ${head.status}: a part of the page, which was not requested`;
  const { contentLength } = validatorsOf(head.headers);
  const whole = contentLength !== null && bodyBytes < contentLength ? ` of ${contentLength}` : '';
  return `the body ended too soon, after ${bodyBytes}${whole} bytes`;
}

export interface Visit {
  readonly protocol: FetchProtocol;
  readonly item: FetchItem;
  /** Facts of the host that decide which rungs are tried. */
  readonly host: HeaderRecord;
  /** How the host answers conditional requests for pages without an entity tag; default: as for all its pages. */
  readonly dated?: ConditionRecord | undefined;
  /** Waits until another request for this URL may be sent. What it rejects with ends the visit without a result. */
  readonly nextTurn?: () => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/** Visits one URL by the ladder of change, cheapest rung first. A fault of a server or the network is a result. */
export async function visit(
  deps: VisitDeps,
  options: VisitOptions,
  { protocol, item, host, dated = host, nextTurn = async () => {}, signal }: Visit,
): Promise<VisitResult> {
  const account: Account = { requests: 0, bodyBytes: 0, receivedBytes: 0, startedAt: elapsedOf(deps.clock) };
  const open: OpenVisit = { deps, options, protocol, item, account, observation: {}, signal };
  const plan = planProbe(item, host, options.probe, item.audit, deps.clock.now(), dated);
  const orFailure = async <Result>(work: Promise<Result>): Promise<Result | VisitResult> => {
    try {
      return await work;
    } catch (error) {
      return failed(open, error);
    }
  };
  const inTurn = async (): Promise<void> => {
    const sentAt = elapsedOf(deps.clock);
    await nextTurn();
    account.startedAt += elapsedOf(deps.clock) - sentAt;
  };
  let answer: VisitResult | Doubt = plan.head ? await orFailure(probeByHead(open)) : 'page';
  if (answer === 'page') {
    if (account.requests > 0) await inTurn();
    answer = await orFailure(get(open, plan));
    if (open.observation.headHits === 1 && answer !== 'claims') answer = judgedAfterHead(answer);
  }
  if (answer !== 'claims') return answer;
  await inTurn();
  const whole = { ...plan, conditional: false, drop: false };
  // A request without a condition cannot be answered with 304, so no doubt is left.
  return (await orFailure(get(open, whole))) as VisitResult;
}

/**
 * Counts a HEAD as a miss where it reported a changed page and the GET found the known one, for example by a length
 * without the content coding.
 */
function judgedAfterHead(result: VisitResult): VisitResult {
  if (result.outcome.kind !== 'unchanged') return result;
  const { headHits: _, ...observation } = result.observation ?? {};
  return { ...result, observation: { ...observation, headMisses: 1 } };
}

/**
 * What an answer leaves open: whether the page has changed; or what only a request without a condition can say, since
 * the answer is of another version, or has other claims (Content-Type, X-Robots-Tag) on the same bytes.
 */
type Doubt = 'page' | 'claims';

async function exchange(
  { options, protocol, item, account, signal }: OpenVisit,
  request: {
    method: 'GET' | 'HEAD';
    headers: Readonly<Record<string, string>>;
    onHead?: (head: ResponseHead) => 'read' | 'drop';
  },
): Promise<Exchange> {
  account.requests++;
  const { method, headers, onHead } = request;
  const result = await protocol.exchange({
    url: item.url,
    method,
    headers,
    maxBodyBytes: options.maxBodyBytes,
    timeoutMs: options.timeoutMs,
    ...(onHead !== undefined && { onHead }),
    ...(signal !== undefined && { signal }),
  });
  account.bodyBytes += result.bodyBytes;
  account.receivedBytes += result.receivedBytes;
  return result;
}

/** Faults of a server that does not serve HEAD and may serve GET. An unreachable server is not among them. */
const HEAD_FAULTS: ReadonlySet<ErrorCode> = new Set([
  'fetch-timeout',
  'fetch-aborted',
  'protocol-error',
  'headers-too-large',
]);

/** Rung 3 of the ladder by HEAD; a doubt is left to a GET. */
async function probeByHead(open: OpenVisit): Promise<VisitResult | Doubt> {
  const { item, observation } = open;
  const headers = conditionalHeaders(item.validators);
  let head: ResponseHead;
  try {
    ({ head } = await exchange(open, { method: 'HEAD', headers }));
  } catch (error) {
    if (!(error instanceof CrawlError) || !HEAD_FAULTS.has(error.code)) throw error;
    observation.headMisses = 1;
    return 'page';
  }
  const refused = head.status >= 400 ? notOk(open, head) : null;
  // A host that throttles gets no second request at once.
  if (refused?.outcome.kind === 'failed' && refused.outcome.code === 'http-throttled') return refused;
  const answer = validatorsOf(head.headers);
  if (head.status === 304) {
    if (isOfAnotherVersion(item.validators, answer)) return 'claims';
    observation.headHits = 1;
    if (!isClaimedBy304(item, head)) return 'claims';
    return unchanged(open, head, 'conditional', answer);
  }
  const isClaimed = isClaimedBy(item, head);
  const isComparable = answer.lastModified !== null && answer.contentLength !== null;
  const conclusive = isClaimed && head.status === 200 && isComparable && !variesFreely(head.headers.vary);
  if (conclusive) observation.headHits = 1;
  else observation.headMisses = 1;
  if (conclusive && saysUnchanged(item.validators, answer)) {
    return unchanged(open, head, 'headers', answer);
  }
  return head.status !== 200 || isClaimed ? 'page' : 'claims';
}

const isClaimedBy = ({ claims }: FetchItem, { headers }: ResponseHead): boolean =>
  claims === undefined || areClaimsKept(claims, claimsOf(headers));
const isClaimedBy304 = ({ claims }: FetchItem, { headers }: ResponseHead): boolean =>
  claims === undefined || areClaimsKeptBy304(claims, claimsOf(headers));

async function get(open: OpenVisit, plan: ProbePlan): Promise<VisitResult | 'claims'> {
  const { item, observation } = open;
  let dropped = false;
  const result = await exchange(open, {
    method: 'GET',
    headers: plan.conditional ? conditionalHeaders(item.validators) : {},
    onHead: (head) => {
      if (head.status < 200 || head.status > 299) return 'drop';
      dropped =
        plan.drop &&
        head.status === 200 &&
        saysUnchanged(item.validators, validatorsOf(head.headers)) &&
        !variesFreely(head.headers.vary) &&
        isClaimedBy(item, head);
      return dropped ? 'drop' : 'read';
    },
  });
  const { head } = result;
  // A partial body stored with the validators of the whole would pass for "unchanged" until the page changes.
  const answer = isPartial(truncationOfBody(result)) ? NO_VALIDATORS : validatorsOf(head.headers);
  if (head.status === 304 && plan.conditional) {
    if (isOfAnotherVersion(item.validators, answer)) return 'claims';
    observation.conditionalHits = 1;
    if (!isClaimedBy304(item, head)) return 'claims';
    return unchanged(open, head, 'conditional', answer);
  }
  if (dropped) {
    if (plan.conditional) observation.conditionalMisses = 1;
    return unchanged(open, head, 'headers', answer);
  }
  if (head.status >= 200 && head.status <= 299) return answered(open, plan, result, answer);
  return notOk(open, head);
}

/** A record keeps the first 128 bits of a body's SHA-256. */
const DIGEST_DIGITS = 32;

/**
 * A body came. A partial one fails the visit, so that it is retried, or is taken as it is after such failures. The
 * digest of a whole one decides whether it is new, and whether the headers would have been right.
 */
function answered(open: OpenVisit, plan: ProbePlan, result: Exchange, answer: Validators): VisitResult {
  const { deps, item, observation } = open;
  const truncated = truncationOfBody(result);
  if (isPartial(truncated) && item.takesPartial !== true) return incomplete(open, result, truncated);
  const body = result.body ?? new Uint8Array(0);
  const sha256 = deps.sha256Of(body);
  const digest = sha256.slice(0, DIGEST_DIGITS);
  const equal = !isPartial(truncated) && digest === item.digest;
  let audit: AuditVerdict | null = null;
  if (plan.audit && wouldHaveSkipped(item.validators, answer)) {
    audit = equal ? 'honest' : 'lied';
    observation.audits = 1;
    if (!equal) observation.lies = 1;
  }
  if (plan.conditional && equal) observation.conditionalMisses = 1;
  // Without a content coding the digest is that of the bytes on the wire.
  const wireDigest = result.wireBody === body ? { bodySha256: sha256 } : {};
  if (equal && isClaimedBy(item, result.head)) {
    const payload = { body: result.wireBody, truncated, ...wireDigest };
    return unchanged(open, result.head, 'digest', answer, { audit, payload });
  }
  return {
    outcome: {
      kind: 'success',
      status: result.head.status,
      ...claimsOf(result.head.headers),
      validators: answer,
      digest,
      truncated,
      audit,
      at: deps.clock.now(),
      ...costs(open),
    },
    response: {
      ...wireResponse(item.url, deps.clock.now(), result.head, result.wireBody, truncated, null),
      ...wireDigest,
    },
    body,
    headers: result.head.headers,
    observation: observationOrNull(observation),
  };
}
