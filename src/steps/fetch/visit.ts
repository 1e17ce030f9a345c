import { areClaimsKept, areClaimsKeptBy304, claimsOf } from '../../domain/crawl/headers/header-claims.ts';
import {
  type ConditionRecord,
  conditionalHeaders,
  type HeaderRecord,
  type ProbePlan,
  planProbe,
  saysUnchanged,
  validatorsOf,
  wouldHaveSkipped,
} from '../../domain/crawl/headers/ladder.ts';
import { NO_VALIDATORS, type Validators } from '../../domain/crawl/states/datum.ts';
import type { AuditVerdict } from '../../domain/crawl/states/outcome.ts';
import { CrawlError, type ErrorCode } from '../../domain/errors.ts';
import type { Exchange, FetchProtocol, ResponseHead } from '../../ports/fetch-protocol.ts';
import type { FetchItem, HostObservation } from '../../ports/segment-store.ts';
import {
  type Account,
  costs,
  failed,
  type Mutable,
  notOk,
  observationOrNull,
  unchanged,
  type VisitDeps,
  type VisitResult,
} from './visit-result.ts';
import { wireResponse } from './wire-response.ts';

/**
 * Visits one URL by the ladder of change, cheapest rung first. Never rejects for what a server or the network does.
 *
 * @param nextTurn waits until the host may be asked once more for this URL; what it rejects with ends the visit without
 *   a result
 * @param dated how the host answers conditional requests for pages without an entity tag, as far as that is known apart
 */
export async function visit(
  deps: VisitDeps,
  protocol: FetchProtocol,
  item: FetchItem,
  host: HeaderRecord,
  dated: ConditionRecord = host,
  nextTurn: () => Promise<void> = async () => {},
  signal?: AbortSignal,
): Promise<VisitResult> {
  const account: Account = { requests: 0, bodyBytes: 0, receivedBytes: 0, startedAt: deps.clock.now() };
  const plan = planProbe(item, host, deps.probe, item.audit, account.startedAt, dated);
  const observation: Mutable<HostObservation> = {};
  const orFailure = async <Result>(work: Promise<Result>): Promise<Result | VisitResult> => {
    try {
      return await work;
    } catch (error) {
      return failed(deps, account, error);
    }
  };
  const inTurn = async (): Promise<void> => {
    const askedAt = deps.clock.now();
    await nextTurn();
    account.startedAt += deps.clock.now() - askedAt;
  };
  let answer: VisitResult | Doubt = plan.head
    ? await orFailure(probeByHead(deps, protocol, item, account, observation, signal))
    : 'page';
  if (answer === 'page') {
    if (account.requests > 0) await inTurn();
    answer = await orFailure(get(deps, protocol, item, plan, account, observation, signal));
    if (observation.headHits === 1 && answer !== 'claims') answer = judgedAfterHead(answer);
  }
  if (answer !== 'claims') return answer;
  await inTurn();
  const whole = { ...plan, conditional: false, drop: false };
  // To a request without a condition a 304 is no answer, so no doubt is left.
  return (await orFailure(get(deps, protocol, item, whole, account, observation, signal))) as VisitResult;
}

/**
 * A HEAD that spoke of another page where the GET found the known one (by its length without the coding, say) has won
 * nothing.
 */
function judgedAfterHead(result: VisitResult): VisitResult {
  if (result.outcome.kind !== 'unchanged') return result;
  const { headHits: _, ...observation } = result.observation ?? {};
  return { ...result, observation: { ...observation, headMisses: 1 } };
}

/**
 * What an answer left open: whether the page changed, or what it means now that the headers claim something else of the
 * same bytes.
 */
type Doubt = 'page' | 'claims';

async function exchange(
  deps: VisitDeps,
  protocol: FetchProtocol,
  item: FetchItem,
  account: Account,
  request: {
    method: 'GET' | 'HEAD';
    headers: Readonly<Record<string, string>>;
    onHead?: (head: ResponseHead) => 'read' | 'drop';
    signal?: AbortSignal | undefined;
  },
): Promise<Exchange> {
  account.requests++;
  const { method, headers, onHead, signal } = request;
  const result = await protocol.exchange({
    url: item.url,
    method,
    headers,
    maxBodyBytes: deps.maxBodyBytes,
    timeoutMs: deps.timeoutMs,
    ...(onHead !== undefined && { onHead }),
    ...(signal !== undefined && { signal }),
  });
  account.bodyBytes += result.bodyBytes;
  account.receivedBytes += result.receivedBytes;
  return result;
}

/** Of a server that does not serve HEAD; it may well serve GET. Where it cannot be reached, nor can the page. */
const HEAD_FAULTS: ReadonlySet<ErrorCode> = new Set([
  'fetch-timeout',
  'fetch-aborted',
  'protocol-error',
  'headers-too-large',
]);

/** Rung 3 by HEAD. Where it leaves a doubt, a GET decides. */
async function probeByHead(
  deps: VisitDeps,
  protocol: FetchProtocol,
  item: FetchItem,
  account: Account,
  observation: Mutable<HostObservation>,
  signal: AbortSignal | undefined,
): Promise<VisitResult | Doubt> {
  const headers = conditionalHeaders(item.validators);
  let head: ResponseHead;
  try {
    ({ head } = await exchange(deps, protocol, item, account, { method: 'HEAD', headers, signal }));
  } catch (error) {
    if (!(error instanceof CrawlError) || !HEAD_FAULTS.has(error.code)) throw error;
    observation.headMisses = 1;
    return 'page';
  }
  const refused = head.status >= 400 ? notOk(deps, item, head, account) : null;
  // Who asks for patience is not asked again at once.
  if (refused?.outcome.kind === 'failed' && refused.outcome.code === 'http-throttled') return refused;
  const answer = validatorsOf(head.headers);
  if (head.status === 304) {
    observation.headHits = 1;
    if (!isClaimedBy304(item, head)) return 'claims';
    return unchanged(deps, item, head, 'conditional', answer, account, observation);
  }
  const isClaimed = isClaimedBy(item, head);
  const conclusive = isClaimed && head.status === 200 && answer.lastModified !== null && answer.contentLength !== null;
  if (conclusive) observation.headHits = 1;
  else observation.headMisses = 1;
  if (conclusive && saysUnchanged(item.validators, answer)) {
    return unchanged(deps, item, head, 'headers', answer, account, observation);
  }
  return head.status !== 200 || isClaimed ? 'page' : 'claims';
}

const isClaimedBy = ({ claims }: FetchItem, { headers }: ResponseHead): boolean =>
  claims === undefined || areClaimsKept(claims, claimsOf(headers));
const isClaimedBy304 = ({ claims }: FetchItem, { headers }: ResponseHead): boolean =>
  claims === undefined || areClaimsKeptBy304(claims, claimsOf(headers));

async function get(
  deps: VisitDeps,
  protocol: FetchProtocol,
  item: FetchItem,
  plan: ProbePlan,
  account: Account,
  observation: Mutable<HostObservation>,
  signal: AbortSignal | undefined,
): Promise<VisitResult | 'claims'> {
  let dropped = false;
  const result = await exchange(deps, protocol, item, account, {
    method: 'GET',
    headers: plan.conditional ? conditionalHeaders(item.validators) : {},
    signal,
    onHead: (head) => {
      if (head.status < 200 || head.status > 299) return 'drop';
      dropped =
        plan.drop &&
        head.status === 200 &&
        saysUnchanged(item.validators, validatorsOf(head.headers)) &&
        isClaimedBy(item, head);
      return dropped ? 'drop' : 'read';
    },
  });
  const { head } = result;
  // Part of a page under the validators of the whole would be "unchanged" until the page changes.
  const answer = result.brokenOff ? NO_VALIDATORS : validatorsOf(head.headers);
  if (head.status === 304 && plan.conditional) {
    observation.conditionalHits = 1;
    if (!isClaimedBy304(item, head)) return 'claims';
    return unchanged(deps, item, head, 'conditional', answer, account, observation);
  }
  if (dropped) {
    if (plan.conditional) observation.conditionalMisses = 1;
    return unchanged(deps, item, head, 'headers', answer, account, observation);
  }
  if (head.status >= 200 && head.status <= 299) return answered(deps, item, plan, result, answer, account, observation);
  return notOk(deps, item, head, account);
}

/** A record keeps the first 128 bits. */
const DIGEST_DIGITS = 32;

/** A whole body came: the digest decides whether it is new, and whether the headers would have told the truth. */
function answered(
  deps: VisitDeps,
  item: FetchItem,
  plan: ProbePlan,
  result: Exchange,
  answer: Validators,
  account: Account,
  observation: Mutable<HostObservation>,
): VisitResult {
  const body = result.body ?? new Uint8Array(0);
  const sha256 = deps.sha256Of(body);
  const digest = sha256.slice(0, DIGEST_DIGITS);
  const equal = digest === item.digest;
  let audit: AuditVerdict | null = null;
  if (plan.audit && wouldHaveSkipped(item.validators, answer)) {
    audit = equal ? 'honest' : 'lied';
    observation.audits = 1;
    if (!equal) observation.lies = 1;
  }
  if (plan.conditional && equal) observation.conditionalMisses = 1;
  // Nothing was undone: what was digested is what went over the wire.
  const wireDigest = result.wireBody === body ? { bodySha256: sha256 } : {};
  if (equal && isClaimedBy(item, result.head)) {
    const payload = { body: result.wireBody, truncated: result.truncated, ...wireDigest };
    return unchanged(deps, item, result.head, 'digest', answer, account, observation, { audit, payload });
  }
  return {
    outcome: {
      kind: 'success',
      status: result.head.status,
      ...claimsOf(result.head.headers),
      validators: answer,
      digest,
      truncated: result.truncated,
      audit,
      at: deps.clock.now(),
      ...costs(deps, account),
    },
    response: {
      ...wireResponse(item.url, deps.clock.now(), result.head, result.wireBody, result.truncated, null),
      ...wireDigest,
    },
    body,
    headers: result.head.headers,
    observation: observationOrNull(observation),
  };
}
