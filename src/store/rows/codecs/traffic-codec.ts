import type { HostTraffic } from '../../../core/domain/crawl/states/host-traffic.ts';

/** Raised with every change of the meaning of the numbers behind it, such as the width of a step of latency. */
const VERSION = 1;

/** At most 460 bytes, mostly below 60. */
export type TrafficTuple = readonly [
  version: number,
  visits: number,
  dnsFailures: number,
  connectionFailures: number,
  timeouts: number,
  receivedBytes: number,
  firstStep: number,
  ...counts: number[],
];

export function encodeTraffic(traffic: HostTraffic): TrafficTuple {
  const { visits, dnsFailures, connectionFailures, timeouts, receivedBytes, latency } = traffic;
  const { first, counts } = latency;
  return [VERSION, visits, dnsFailures, connectionFailures, timeouts, receivedBytes, first, ...counts];
}

/** `null` for what a newer version has written: it is counted anew. */
export function decodeTraffic(tuple: TrafficTuple): HostTraffic | null {
  const [version, visits, dnsFailures, connectionFailures, timeouts, receivedBytes, first, ...counts] = tuple;
  if (version !== VERSION) return null;
  return { visits, dnsFailures, connectionFailures, timeouts, receivedBytes, latency: { first, counts } };
}
