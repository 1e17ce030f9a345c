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
import type { FetchItem, HostLesson } from '../../ports/segment-store.ts';
import {
  type Account,
  costs,
  failed,
  lessonOrNull,
  type Mutable,
  notOk,
  unchanged,
  type VisitResult,
  type VisitRoom,
} from './visit-result.ts';
import { wireResponse } from './wire-response.ts';

/**
 * Visits one URL by the ladder of change, cheapest rung first. Never rejects for what a server or the network does.
 *
 * @param nextTurn waits until the host may be asked once more for this URL; what it rejects with ends the visit without a result
 * @param dated how the host answers conditional requests for pages without an entity tag, as far as that is known apart
 */
export async function visit(
  room: VisitRoom,
  protocol: FetchProtocol,
  item: FetchItem,
  host: HeaderRecord,
  dated: ConditionRecord = host,
  nextTurn: () => Promise<void> = async () => {},
  signal?: AbortSignal,
): Promise<VisitResult> {
  const account: Account = { requests: 0, bodyBytes: 0, receivedBytes: 0, startedAt: room.clock.now() };
  const plan = planProbe(item, host, room.probe, item.audit, account.startedAt, dated);
  const lesson: Mutable<HostLesson> = {};
  const orFailure = async <Result>(work: Promise<Result>): Promise<Result | VisitResult> => {
    try {
      return await work;
    } catch (error) {
      return failed(room, account, error);
    }
  };
  const inTurn = async (): Promise<void> => {
    const askedAt = room.clock.now();
    await nextTurn();
    account.startedAt += room.clock.now() - askedAt;
  };
  let answer: VisitResult | Doubt = plan.head
    ? await orFailure(probeByHead(room, protocol, item, account, lesson, signal))
    : 'page';
  if (answer === 'page') {
    if (account.requests > 0) await inTurn();
    answer = await orFailure(get(room, protocol, item, plan, account, lesson, signal));
    if (lesson.headHits === 1 && answer !== 'claims') answer = judgedAfterHead(answer);
  }
  if (answer !== 'claims') return answer;
  await inTurn();
  const whole = { ...plan, conditional: false, drop: false };
  // To a request without a condition a 304 is no answer, so no doubt is left.
  return (await orFailure(get(room, protocol, item, whole, account, lesson, signal))) as VisitResult;
}

/** A HEAD that spoke of another page where the GET found the known one (by its length without the coding, say) has won nothing. */
function judgedAfterHead(result: VisitResult): VisitResult {
  if (result.outcome.kind !== 'unchanged') return result;
  const { headHits: _, ...lesson } = result.lesson ?? {};
  return { ...result, lesson: { ...lesson, headMisses: 1 } };
}

/** What an answer left open: whether the page changed, or what it means now that the headers claim something else of the same bytes. */
type Doubt = 'page' | 'claims';

async function exchange(
  room: VisitRoom,
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
    maxBodyBytes: room.maxBodyBytes,
    timeoutMs: room.timeoutMs,
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
  room: VisitRoom,
  protocol: FetchProtocol,
  item: FetchItem,
  account: Account,
  lesson: Mutable<HostLesson>,
  signal: AbortSignal | undefined,
): Promise<VisitResult | Doubt> {
  const headers = conditionalHeaders(item.validators);
  let head: ResponseHead;
  try {
    ({ head } = await exchange(room, protocol, item, account, { method: 'HEAD', headers, signal }));
  } catch (error) {
    if (!(error instanceof CrawlError) || !HEAD_FAULTS.has(error.code)) throw error;
    lesson.headMisses = 1;
    return 'page';
  }
  const refused = head.status >= 400 ? notOk(room, item, head, account) : null;
  // Who asks for patience is not asked again at once.
  if (refused?.outcome.kind === 'failed' && refused.outcome.code === 'http-throttled') return refused;
  const answer = validatorsOf(head.headers);
  if (head.status === 304) {
    lesson.headHits = 1;
    if (!isClaimedBy304(item, head)) return 'claims';
    return unchanged(room, item, head, 'conditional', answer, account, lesson);
  }
  const isClaimed = isClaimedBy(item, head);
  const conclusive = isClaimed && head.status === 200 && answer.lastModified !== null && answer.contentLength !== null;
  if (conclusive) lesson.headHits = 1;
  else lesson.headMisses = 1;
  if (conclusive && saysUnchanged(item.validators, answer)) {
    return unchanged(room, item, head, 'headers', answer, account, lesson);
  }
  return head.status !== 200 || isClaimed ? 'page' : 'claims';
}

const isClaimedBy = ({ claims }: FetchItem, { headers }: ResponseHead): boolean =>
  claims === undefined || areClaimsKept(claims, claimsOf(headers));
const isClaimedBy304 = ({ claims }: FetchItem, { headers }: ResponseHead): boolean =>
  claims === undefined || areClaimsKeptBy304(claims, claimsOf(headers));

async function get(
  room: VisitRoom,
  protocol: FetchProtocol,
  item: FetchItem,
  plan: ProbePlan,
  account: Account,
  lesson: Mutable<HostLesson>,
  signal: AbortSignal | undefined,
): Promise<VisitResult | 'claims'> {
  let dropped = false;
  const result = await exchange(room, protocol, item, account, {
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
    lesson.conditionalHits = 1;
    if (!isClaimedBy304(item, head)) return 'claims';
    return unchanged(room, item, head, 'conditional', answer, account, lesson);
  }
  if (dropped) {
    if (plan.conditional) lesson.conditionalMisses = 1;
    return unchanged(room, item, head, 'headers', answer, account, lesson);
  }
  if (head.status >= 200 && head.status <= 299) return answered(room, item, plan, result, answer, account, lesson);
  return notOk(room, item, head, account);
}

/** A record keeps the first 128 bits. */
const DIGEST_DIGITS = 32;

/** A whole body came: the digest decides whether it is new, and whether the headers would have told the truth. */
function answered(
  room: VisitRoom,
  item: FetchItem,
  plan: ProbePlan,
  result: Exchange,
  answer: Validators,
  account: Account,
  lesson: Mutable<HostLesson>,
): VisitResult {
  const body = result.body ?? new Uint8Array(0);
  const sha256 = room.sha256Of(body);
  const digest = sha256.slice(0, DIGEST_DIGITS);
  const equal = digest === item.digest;
  let audit: AuditVerdict | null = null;
  if (plan.audit && wouldHaveSkipped(item.validators, answer)) {
    audit = equal ? 'honest' : 'lied';
    lesson.audits = 1;
    if (!equal) lesson.lies = 1;
  }
  if (plan.conditional && equal) lesson.conditionalMisses = 1;
  // Nothing was undone: what was digested is what went over the wire.
  const wireDigest = result.wireBody === body ? { bodySha256: sha256 } : {};
  if (equal && isClaimedBy(item, result.head)) {
    const payload = { body: result.wireBody, truncated: result.truncated, ...wireDigest };
    return unchanged(room, item, result.head, 'digest', answer, account, lesson, { audit, payload });
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
      at: room.clock.now(),
      ...costs(room, account),
    },
    response: {
      ...wireResponse(item.url, room.clock.now(), result.head, result.wireBody, result.truncated, null),
      ...wireDigest,
    },
    body,
    headers: result.head.headers,
    lesson: lessonOrNull(lesson),
  };
}
