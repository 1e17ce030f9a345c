import { createFixedSchedule } from 'incrawl/bundled';
import { definePlugin } from 'incrawl/plugin';

export default definePlugin({
  name: 'schedule-fixed',
  api: 1,
  setup: (host) => createFixedSchedule({ intervalMs: host.intervals.intervalMs }),
});
