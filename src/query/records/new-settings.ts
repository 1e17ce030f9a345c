import type { Config } from '../../core/config/schema.ts';
import type { Clock } from '../../core/ports/clock.ts';
import { type NewSettings, openNewSettings, SETTINGS_KEY } from '../../core/steps/generate/settings-in-force.ts';
import type { QueryDb, QuestionPlugins } from '../../operations/deps.ts';
import { scheduleSettings } from '../../operations/loop/step-settings.ts';

interface NewSettingsDeps {
  readonly clock: Pick<Clock, 'now'>;
  db(): Promise<QueryDb>;
  config(): Promise<Config>;
  plugins(): Promise<QuestionPlugins>;
}

/** Settings that the next round will apply; `null`: none. */
export async function newSettings(deps: NewSettingsDeps): Promise<NewSettings | null> {
  const db = await deps.db();
  const [first = { db }] = db.parts;
  const known = await first.db.meta(SETTINGS_KEY);
  const settings = scheduleSettings(await deps.config());
  if (known === undefined || known === settings) return null;
  const { policy } = await deps.plugins();
  const asked: Parameters<typeof openNewSettings>[0] = {
    meta: (key) => first.db.meta(key),
    counters: () => first.db.counters(),
    getMany: (urls) => db.getMany(urls),
    hostRows: (hosts) => db.hostRows(hosts),
  };
  return openNewSettings(asked, settings, policy, deps.clock.now());
}
