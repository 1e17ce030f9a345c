import { z } from 'zod';

/** Where a secret is: in a variable of the environment, or in a file, relative to the configuration file. */
export type SecretRef = { readonly env: string } | { readonly file: string };

const WANTED =
  'expected { env: NAME } or { file: PATH }: the configuration says where a secret is, it does not contain it';

/** Any other value is refused, and what was given is not repeated. */
export const secretRef = z.union(
  [
    z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/) }),
    z.strictObject({ file: z.string().regex(/^[^\p{Cc}]+$/u) }),
  ],
  { error: () => WANTED },
);

export const SECRET_JSON = {
  description: 'Where the secret is: a variable of the environment, or a file beside the configuration.',
  oneOf: [
    { type: 'object', additionalProperties: false, required: ['env'], properties: { env: { type: 'string' } } },
    { type: 'object', additionalProperties: false, required: ['file'], properties: { file: { type: 'string' } } },
  ],
} as const;
