import { z } from 'zod';
import type {
  ForwardedLink,
  InboxItem,
  InboxRow,
  OutboxRow,
} from '../../core/domain/crawl/discovery/forwarded-link.ts';
import { PARTITIONS } from '../../core/domain/url/hash/partition.ts';
import type { ForwardingBatch, ForwardingMarks } from '../../core/ports/partitions/forwarding.ts';

/** Lines of links from and to other partitions. */
export type ForwardingLine =
  | { readonly outbox: OutboxRow }
  | { readonly inbox: InboxRow }
  /** A link of another partition that waits for the share of its family. */
  | { readonly waiting: ForwardedLink }
  | { readonly forwarding: ForwardingMarks };

const count = z.number().int().nonnegative();

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

export const forwardingSchemas = [
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

export const isForwarding = (line: object): line is ForwardingLine =>
  'outbox' in line || 'inbox' in line || 'waiting' in line || 'forwarding' in line;

/** The part of a batch that writes the lines as they were. */
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
