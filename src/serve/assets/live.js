// Updates pages without a reload. Every page can be read without this script. Markup comes from the server, which
// escapes all text from the crawl.

/** A page that only time changes is fetched again after this, ms. */
const FRESH_MS = 60_000;

const isRenewed = () => location.pathname === '/' || location.pathname === '/rounds';
const parsed = (text) => new DOMParser().parseFromString(text, 'text/html');

// Replaces the content by a fresh copy from the server; the scroll position is kept, and so is what has the focus.
async function renew() {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const next = parsed(await answer.text()).querySelector('main');
  const old = document.querySelector('main');
  if (next !== null && !old.contains(document.activeElement)) old.replaceWith(document.adoptNode(next));
}

function follow() {
  if (!window.EventSource) return;
  const activity = document.querySelector('[data-live="activity"]');
  const events = new EventSource('/events');
  let mark = null;
  let control = null;
  events.addEventListener('activity', (event) => {
    const now = JSON.parse(event.data);
    if (activity.textContent !== now.text) activity.textContent = now.text;
    activity.className = now.className;
    for (const name of ['run', 'workers', 'workers-tables']) {
      const section = document.querySelector(`[data-live="${name}"]`);
      // What has the focus, such as a link, would lose it.
      if (!section || !now[name] || section.contains(document.activeElement)) continue;
      section.replaceWith(document.adoptNode(parsed(now[name]).body.firstElementChild));
    }
    // Buttons are replaced where they differ: a button that was replaced under the pointer would not be pressed.
    const buttons = document.querySelector('[data-live="control"]');
    if (buttons && now.control && control !== now.control) {
      if (control !== null) buttons.replaceWith(document.adoptNode(parsed(now.control).body.firstElementChild));
      control = now.control;
    }
    if (mark !== null && mark !== now.mark && isRenewed()) renew().catch(() => {});
    mark = now.mark;
  });
  addEventListener('pagehide', () => events.close());
}

follow();
setInterval(() => {
  if (isRenewed() && !document.hidden) renew().catch(() => {});
}, FRESH_MS);
