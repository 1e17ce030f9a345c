import { definePlugin } from 'incrawl/plugin';

export default definePlugin({
  name: 'protocol-http',
  api: 1,
  setup: (host) => host.http.createGotProtocol(),
});
