import { definePlugin } from 'incrawl/plugin';
import { z } from 'zod';

const options = z.strictObject({
  http2: z.boolean().default(false).describe('HTTP/2 with servers that offer it over TLS, HTTP/1.1 with all others.'),
});

export default definePlugin({
  name: 'protocol-undici',
  api: 1,
  options,
  setup: (host, { http2 }) => host.http.createUndiciProtocol({ http2 }),
});
