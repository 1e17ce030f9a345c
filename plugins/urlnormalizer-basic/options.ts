import { z } from 'zod';

/** Parameters that track visitors and never select content. A final `*` matches any ending. */
export const TRACKING_PARAMS: readonly string[] = [
  'utm_*',
  'mtm_*',
  'pk_campaign',
  'pk_kwd',
  'piwik_*',
  'matomo_*',
  'gclid',
  'gclsrc',
  'dclid',
  'gbraid',
  'wbraid',
  'srsltid',
  '_ga',
  '_gl',
  'fbclid',
  'igsh',
  'igshid',
  'msclkid',
  'yclid',
  'ysclid',
  'twclid',
  'ttclid',
  'li_fat_id',
  'epik',
  'irclickid',
  'rb_clickid',
  'mc_cid',
  'mc_eid',
  'mkt_tok',
  '_hsenc',
  '_hsmi',
  '__hssc',
  '__hstc',
  '__hsfp',
  'hsctatracking',
  'vero_id',
  'vero_conv',
  'oly_anon_id',
  'oly_enc_id',
];

const paramName = z.string().min(1, 'expected a parameter name, or a prefix followed by *');

export const optionsSchema = z.strictObject({
  dropQueryParams: z
    .array(paramName)
    .default([...TRACKING_PARAMS])
    .describe('Query parameters to drop; case is ignored, * at the end matches any ending. [] drops none.'),
  keepQueryParams: z
    .array(paramName)
    .default([])
    .describe('Exceptions to dropQueryParams and sessionIds, in the same notation.'),
  sessionIds: z
    .enum(['tokens', 'names', 'off'])
    .default('tokens')
    .describe(
      'Session ids to drop. tokens: unambiguous parameters (jsessionid, PHPSESSID) always, ambiguous ones (sid) when ' +
        'their value looks random; names: all of them by name alone, as Nutch does; off: none.',
    ),
  tidyQuery: z.boolean().default(true).describe('Drop empty parts of a query: ?&a=1&& becomes ?a=1.'),
  stripWww: z.boolean().default(false).describe('Drop www. from the host.'),
  duplicateSlashes: z.boolean().default(false).describe('Replace // in paths by /.'),
  stripIndexFiles: z
    .boolean()
    .default(false)
    .describe('Drop index.html, default.asp and the like at the end of a path.'),
  dropTrailingSlash: z.boolean().default(false).describe('Write /a/ as /a; the root stays /.'),
  sortQuery: z
    .boolean()
    .default(false)
    .describe('Sort parameters by name, values of one name in their order; write a= as a, drop parts without a name.'),
});

export type Options = z.infer<typeof optionsSchema>;
