import type { Exchange } from '../../ports/fetch-protocol.ts';
import { isMap, isNumber, isText } from './shapes.ts';

const isBodyOrNull = (value: unknown): boolean => value === null || value instanceof Uint8Array;
const isCount = (value: unknown): boolean => isNumber(value) && (value as number) >= 0;

/**
 * What of an answer is not as {@link Exchange} says, in words; `null` when all is. What is stored of it, and compared
 * at the next visit, trusts the types.
 */
export function exchangeFault(answer: Exchange): string | null {
  const { head, wireBody, body, bodyBytes, receivedBytes } = (isMap(answer) ? answer : {}) as Partial<Exchange>;
  if (!isMap(head) || !isCount(head.status)) return 'the answer has no head with a status';
  if (!isMap(head.headers) || !Object.values(head.headers).every(isText))
    return 'head.headers must be a map of strings';
  if (!Array.isArray(head.rawHeaders) || head.rawHeaders.length % 2 === 1 || !head.rawHeaders.every(isText)) {
    return 'head.rawHeaders must be a list of names and values in turn';
  }
  if (!isText(head.statusText) || !isText(head.httpVersion))
    return 'head.statusText and head.httpVersion must be strings';
  if (!isBodyOrNull(wireBody) || !isBodyOrNull(body)) return 'wireBody and body must be a Uint8Array or null';
  if ((wireBody === null) !== (body === null)) return 'wireBody and body must be both null or none';
  return isCount(bodyBytes) && isCount(receivedBytes) ? null : 'bodyBytes and receivedBytes must be numbers';
}
