import { z } from 'zod';
import { secretRef } from './secret-ref.ts';

const PORT = '(?::[0-9]{1,5})?';
const HOST = String.raw`(?:\[[0-9a-fA-F:.]+\]|[^\s/?#@:%[\]]+)`;

/** A proxy without user and password, which are secrets. */
export const PROXY_URL = new RegExp(`^(?:https?|socks5h?)://${HOST}${PORT}/?$`);
export const PROXY_WANTED =
  'a proxy such as http://proxy.example:3128, socks5://127.0.0.1:1080 or socks5h://proxy.example, without a password';

const wanted = `expected none, ${PROXY_WANTED}, or { url, user, password: { env: NAME } }`;
const url = z.string({ error: () => wanted }).regex(PROXY_URL, { error: () => wanted });

/** `proxy` of an entry: what was given is not repeated, as it may hold a password. */
export const proxySetting = z.union(
  [z.literal('none'), url, z.strictObject({ url, user: z.string().regex(/^[^\p{Cc}:]+$/u), password: secretRef })],
  { error: () => wanted },
);
