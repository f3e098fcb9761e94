// Lines that break, servers that restart, pages that vanish, strangers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, openExample, openPage, startServer, time, waitForTime, waitUntil } from './harness.mjs';
import { binary, pause, studio, until } from './shared.mjs';

test('a lost connection comes back with the session as it was', async () => {
  const { page } = studio;
  await openExample(page, 'double-pendulum.yaml');
  await waitForTime(page, 0.2);
  const there = await time(page);
  await page.evaluate(() => window.studio.connection.drop());
  await page.locator('.lost').waitFor({ state: 'visible' });
  await page.locator('.lost').waitFor({ state: 'hidden' });
  await until(() => window.studio.frame.revision === window.studio.scene.revision && window.studio.scene.name === 'double-pendulum.yaml', null, 'the scene');
  assert.ok((await time(page)) >= there);
});

test('a server that was restarted goes on from the journal', async () => {
  const first = await startServer(binary);
  const { page, context } = await openPage(studio.browser, first.address);
  await page.waitForSelector('.card');
  await openExample(page, 'double-pendulum.yaml');
  await waitForTime(page, 0.3);
  assert.ok((await ask(page, 'edit', { text: 'set gravity [0, -5]' })).ok);
  const before = await pause(page);
  assert.equal(await first.stop({ keepsWorkspace: true }), 0);
  await page.locator('.lost').waitFor({ state: 'visible' });
  const second = await startServer(binary, { port: first.port, workspace: first.workspace });
  await page.locator('.lost').waitFor({ state: 'hidden' });
  await waitUntil(page, () => window.studio.scene?.gravity[1] === '-5' && window.studio.state.open, null, 'the session');
  const after = await ask(page, 'pause');
  assert.equal(after.time, before.time);
  assert.equal(after.fingerprint, before.fingerprint);
  await context.close();
  assert.equal(await second.stop(), 0);
});

// Sanitizers bring an allocator of their own, and nothing is counted.
const skip = process.env.LIMBER_SANITIZED ? 'memory is not counted under sanitizers' : false;
test('a session that grows too large ends alone, with a message that can be seen', { skip }, async () => {
  const server = await startServer(binary, { more: ['--session-memory', '24 MiB'] });
  const one = await openPage(studio.browser, server.address);
  const other = await openPage(studio.browser, server.address);
  for (const { page } of [one, other]) {
    await page.waitForSelector('.card');
    await openExample(page, 'double-pendulum.yaml');
  }
  // Discs that all touch each other: contacts grow with the square of their number.
  const discs = 'limber: 1\nplane: xy\nbodies:\n  for i in 1..50:\n    d<i>: {disc: {radius: 0.5, mass: 1}, at: [3, 0]}\ncontacts:\n  all: {linear: [all, all], stiffness: 1000, damping: 1}\n';
  assert.ok((await ask(one.page, 'open', { source: 'text', name: 'discs.yaml', text: discs })).ok);
  let reply = { ok: true };
  for (let i = 0; i < 100 && reply.ok; ++i) reply = await ask(one.page, 'edit', { text: `add bodies.c${i} {disc: {radius: 0.5, mass: 1}, at: [3, 0]}` });
  assert.match(reply.reason, /memory/);
  const note = one.page.locator('.note', { hasText: 'The session has ended: it needed more than the 24 MiB' });
  await note.waitFor();
  // The gallery is there for something else to be opened; the message lies on it.
  await one.page.locator('.gallery').waitFor({ state: 'visible' });
  const isOnTop = await note.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  });
  assert.ok(isOnTop);
  const there = await time(other.page);
  await waitForTime(other.page, there + 0.2);
  await openExample(one.page, 'slider-crank.yaml');
  for (const { context, errors } of [one, other]) {
    assert.deepEqual(errors, []);
    await context.close();
  }
  assert.equal(await server.stop(), 0);
});

test('a page that vanishes leaves the others alone', async () => {
  const { page } = studio;
  await openExample(page, 'double-pendulum.yaml');
  const other = await openPage(studio.browser, studio.server.address);
  await other.page.waitForSelector('.card');
  await openExample(other.page, 'slider-crank.yaml');
  const there = await time(page);
  await other.context.close();
  await waitForTime(page, there + 0.3);
});

test('pages from elsewhere cannot connect', async () => {
  const stranger = await studio.context.newPage();
  await stranger.goto('data:text/html,<p>elsewhere</p>');
  const opened = await stranger.evaluate(
    (address) =>
      new Promise((resolve) => {
        const socket = new WebSocket(address);
        socket.onopen = () => resolve(true);
        socket.onerror = () => resolve(false);
      }),
    studio.server.address.replace('http', 'ws') + 'live',
  );
  assert.equal(opened, false);
  await stranger.close();
});
