/** Prefix of a worker's error message when it cannot load its plugins; error codes do not cross threads. */
export const PLUGINS_BROKEN = 'plugins of the parser threads: ';
