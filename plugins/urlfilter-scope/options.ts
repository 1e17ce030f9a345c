import { canonicalUrl } from 'incrawl/plugin';
import { z } from 'zod';

/** `host[:port]` in canonical form. */
const host = z.string().transform((text, context) => {
  const result = /[/?#@\s]/.test(text) ? undefined : canonicalUrl(`http://${text}/`);
  if (result !== undefined && 'url' in result) return result.url.slice('http://'.length, -1);
  context.addIssue({
    code: 'custom',
    message: `expected a host such as example.org or example.org:8080, found "${text}"`,
  });
  return z.NEVER;
});

const domain = host.refine((name) => !/[:[]/.test(name), 'expected a domain such as example.org, without a port');

/** `host[:port]/path`, or `/path` for any host of the scope. */
const pathPrefix = z.string().transform((text, context) => {
  const result = canonicalUrl(text, 'http://any.invalid/');
  const isPath = text.startsWith('/') && !text.startsWith('//');
  if ('url' in result && (isPath || /^https?:\/\//i.test(text)) && !result.url.includes('?')) {
    const withoutScheme = result.url.slice(result.url.indexOf('//') + 2);
    return isPath ? withoutScheme.slice('any.invalid'.length) : withoutScheme;
  }
  context.addIssue({
    code: 'custom',
    message: `expected /path/ or http://host/path/ without a query, found "${text}"`,
  });
  return z.NEVER;
});

export const optionsSchema = z
  .strictObject({
    mode: z
      .enum(['any', 'host', 'domain', 'path', 'list'])
      .default('host')
      .describe(
        "Scope. host: the seeds' hosts (with and without www.); domain: the seeds' registrable domains; " +
          'path: URLs that begin with one of paths; list: only hosts and domains; any: everything.',
      ),
    hosts: z
      .array(host)
      .default([])
      .describe('Further hosts in scope: host, or host:port where the port is not the default one.'),
    domains: z.array(domain).default([]).describe('Further domains in scope, with all hosts below them.'),
    paths: z
      .array(pathPrefix)
      .default([])
      .describe("URL prefixes for mode path: http://host/path/, or /path/ on any of the seeds' hosts."),
    maxDepth: z.int().min(0).optional().describe('Most links from a seed. 0: the seeds alone. Default: no limit.'),
  })
  .superRefine(({ mode, hosts, domains, paths }, context) => {
    const refuse = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (mode === 'list' && hosts.length + domains.length === 0) refuse('hosts', 'mode list needs hosts or domains');
    if (mode === 'path' && paths.length === 0) refuse('paths', 'mode path needs paths');
    if (mode !== 'path' && paths.length > 0) refuse('paths', `paths have no effect in mode ${mode}, only in mode path`);
    if (mode === 'any' && hosts.length > 0) refuse('hosts', 'hosts have no effect in mode any');
    if (mode === 'any' && domains.length > 0) refuse('domains', 'domains have no effect in mode any');
  });

export type Options = z.infer<typeof optionsSchema>;
