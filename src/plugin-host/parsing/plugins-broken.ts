/** Begins the text of an error by which a worker says that it could not load its plugins: no page is at fault. */
export const PLUGINS_BROKEN = 'plugins of the parser threads: ';
