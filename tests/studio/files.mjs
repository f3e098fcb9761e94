// Opening, saving, downloading, replaying.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ask, openExample, openText, waitForTime } from './harness.mjs';
import { noteWith, pause, studio, until } from './shared.mjs';

const downloaded = async (entry) => {
  const { page } = studio;
  await page.click('summary[aria-label="Downloads"]');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(`.menu-list button:has-text("${entry}")`)]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
};

test('a model is saved and opens again as it was', async () => {
  const { page } = studio;
  await openExample(page, 'double-pendulum.yaml');
  assert.ok((await ask(page, 'edit', { text: 'set bodies.lower.rod.end-masses.1 3' })).ok);
  page.once('dialog', (dialog) => dialog.accept('mine.yaml'));
  await page.click('#save');
  await noteWith('Saved as mine.yaml');
  await page.click('#show-gallery');
  await page.click('[data-file="mine.yaml"]');
  await until(() => window.studio.scene.name === 'mine.yaml', null, 'the saved model');
  assert.equal(await page.evaluate(() => window.studio.scene.bodies.find((b) => b.name === 'lower').mass), 3.5);
});

test('a journal is saved, the page reloaded, and it replays to the same bits', async () => {
  const { page } = studio;
  await openExample(page, 'double-pendulum.yaml');
  await waitForTime(page, 0.2);
  assert.ok((await ask(page, 'edit', { text: 'impulse lower.to [1, 2]' })).ok);
  assert.ok((await ask(page, 'edit', { text: 'remove joints.elbow with dependents' })).ok);
  await waitForTime(page, 0.4);
  const { fingerprint } = await pause();
  const journal = await downloaded('Journal');
  assert.equal(journal.name, 'double-pendulum.journal');
  await page.reload();
  await until(() => window.studio?.frame?.revision !== undefined, null, 'the page');
  // The session was waiting, as it was.
  assert.equal((await ask(page, 'pause')).fingerprint, fingerprint);
  await openExample(page, 'slider-crank.yaml');
  await page.setInputFiles('#upload', { name: journal.name, mimeType: 'text/plain', buffer: journal.bytes });
  await noteWith('to the same bits');
  assert.equal((await ask(page, 'pause')).fingerprint, fingerprint);
});

test('results, model and picture are downloaded', async () => {
  const { page } = studio;
  await openExample(page, 'double-pendulum.yaml');
  await waitForTime(page, 0.3);
  await pause();
  const table = await downloaded('Results (CSV)');
  const rows = String(table.bytes).trim().split('\n');
  assert.equal(rows[0], 't,tip.x,tip.y,pin.fx,pin.fy,pin.tz');
  assert.ok(rows.length > 20, `only ${rows.length} rows`);
  const hdf5 = await downloaded('Results (HDF5)');
  assert.equal(hdf5.name, 'double-pendulum.h5');
  assert.equal(hdf5.bytes.subarray(0, 8).toString('latin1'), '\x89HDF\r\n\x1a\n');
  assert.match(String((await downloaded('Model')).bytes), /^limber: 1/);
  assert.equal((await downloaded('Picture')).bytes.subarray(1, 4).toString(), 'PNG');
});

test('what is wrong with an uploaded model is shown with line and field', async () => {
  const { page } = studio;
  await page.setInputFiles('#upload', { name: 'bad.yaml', mimeType: 'text/yaml', buffer: Buffer.from('limber: 1\nplane: xy\nbodies:\n  a: {rodd: {from: [0, 0]}}\n') });
  await noteWith('bad.yaml:4');
  await noteWith('rodd');
  await openText(page, 'good.yaml', 'limber: 1\nplane: xy\nbodies:\n  a: {point: {mass: 2}}\n');
});

test('a model is dropped onto the page', async () => {
  const { page } = studio;
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(['limber: 1\nplane: xy\nbodies:\n  a: {point: {mass: 2}}\n'], 'dropped.yaml'));
    dispatchEvent(new DragEvent('drop', { dataTransfer: data }));
  });
  await until(() => window.studio.scene.name === 'dropped.yaml', null, 'the dropped model');
});
