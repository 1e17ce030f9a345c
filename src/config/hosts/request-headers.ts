import { z } from 'zod';
import { secretRef } from './secret-ref.ts';

/** Fields that the crawler sets itself, or that belong to the connection: others would break what rests on them. */
const RESERVED =
  /^(?:host|connection|keep-alive|te|trailer|upgrade|transfer-encoding|content-.*|accept-encoding|user-agent|range|if-.*|expect|cookie|proxy-.*)$/;

/** Names of fields whose values are secrets on nearly every server. */
const SECRET = /auth|token|secret|password|session|api-?key|credential|signature/;

/** Whether the value of a field must come from the environment or a file. */
export const isSecretHeader = (name: string): boolean => SECRET.test(name.toLowerCase());

/** Request fields by name: text, or where a secret is. */
export const requestHeaders = z
  .record(
    z.string(),
    z.union([z.string().regex(/^[\t\x20-\x7e]*$/), secretRef], {
      error: () => 'expected text of visible ASCII characters, { env: NAME } or { file: PATH }',
    }),
    { error: () => 'expected names and values of request headers' },
  )
  .superRefine((headers, context) => {
    for (const [name, value] of Object.entries(headers)) {
      const refuse = (message: string): void => context.addIssue({ code: 'custom', path: [name], message });
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) refuse('is not the name of a header field (RFC 9110)');
      else if (RESERVED.test(name.toLowerCase())) refuse('is set by the crawler itself; see userAgent and cookies');
      else if (typeof value === 'string' && isSecretHeader(name)) {
        refuse('looks like a secret: expected { env: NAME } or { file: PATH }');
      }
    }
  });
