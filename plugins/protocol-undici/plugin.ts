import { definePlugin } from 'incrawl/plugin';

export default definePlugin({
  name: 'protocol-undici',
  api: 1,
  setup: (host) => host.http.createUndiciProtocol(),
});
