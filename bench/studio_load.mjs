// Many users at once: node bench/studio_load.mjs LIMBER [--users 50] [--seconds 600] [--least-rate 30] [--out FILE.json]
//
// Most users watch a moving mechanism and take every frame, some edit as they watch, some are slow, some vanish and come back.
// Fails if the server dies or reports an error, if a watcher gets no frame for five seconds, if the watchers' mean rate falls
// below the least one in any half minute, or if memory passes what sessions are allowed to keep.

import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [binary, ...rest] = process.argv.slice(2);
const option = (name, fallback) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : fallback);
const users = Number(option('--users', 50));
const seconds = Number(option('--seconds', 600));
const leastRate = Number(option('--least-rate', 30)); // frames/s
const out = option('--out', '');
const longestSilence = 5000; // ms
const window = 30; // s over which rates are taken
// The server itself, and for each session its snapshots (4 MB), what its sensors have shown (1.2 MB), its model and buffers.
const mostMemory = (60 + 8 * users) * (process.env.LIMBER_SANITIZED ? 4 : 1); // MB

const workspace = mkdtempSync(join(tmpdir(), 'limber-load-'));
const server = spawn(binary, ['studio', '--port', '0', '--workspace', workspace], { stdio: ['ignore', 'pipe', 'inherit'] });
let isOver = false;
server.on('exit', (code) => {
  if (!isOver) fail(`the server ended with ${code}`);
});
const port = await new Promise((resolve) => server.stdout.once('data', (text) => resolve(Number(String(text).match(/:(\d+)\//)[1]))));

/** A WebSocket client small enough to have fifty of: Node 18 has none of its own. */
class Client {
  frames = 0;
  lastFrame = Date.now();
  session = '';
  buffer = Buffer.alloc(0);
  isOpen = false;

  constructor(kind) {
    this.kind = kind;
  }

  open() {
    this.socket = connect(port, '127.0.0.1');
    this.buffer = Buffer.alloc(0);
    this.isOpen = false;
    const key = randomBytes(16).toString('base64');
    this.accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    this.socket.write(
      `GET /live?session=${this.session} HTTP/1.1\r\nHost: localhost:${port}\r\nOrigin: http://localhost:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    );
    this.socket.on('data', (data) => this.receive(data));
    this.socket.on('error', () => {});
  }

  send(message) {
    const body = Buffer.from(JSON.stringify(message));
    // Masked with zeros: allowed, and cheap.
    const head = body.length < 126 ? Buffer.from([0x81, 0x80 | body.length, 0, 0, 0, 0]) : Buffer.from([0x81, 0xfe, body.length >> 8, body.length & 255, 0, 0, 0, 0]);
    this.socket.write(Buffer.concat([head, body]));
  }

  receive(data) {
    this.buffer = Buffer.concat([this.buffer, data]);
    if (!this.isOpen) {
      const end = this.buffer.indexOf('\r\n\r\n');
      if (end < 0) return;
      if (!this.buffer.subarray(0, end).toString().includes(this.accept)) fail(`refused: ${this.buffer.subarray(0, end)}`);
      this.buffer = this.buffer.subarray(end + 4);
      this.isOpen = true;
    }
    for (;;) {
      if (this.buffer.length < 2) return;
      const short = this.buffer[1] & 127;
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (this.buffer.length < head) return;
      const length = short < 126 ? short : short === 126 ? this.buffer.readUInt16BE(2) : Number(this.buffer.readBigUInt64BE(2));
      if (this.buffer.length < head + length) return;
      const opcode = this.buffer[0] & 15;
      const body = this.buffer.subarray(head, head + length);
      if (opcode === 1) this.read(JSON.parse(body.toString()));
      if (opcode === 2) this.take(body);
      if (opcode === 9) this.socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0]));
      this.buffer = this.buffer.subarray(head + length);
    }
  }

  read(message) {
    if (message.type === 'hello') {
      const isBack = this.session === message.session;
      this.session = message.session;
      if (!isBack) this.send({ type: 'open', source: 'example', name: 'double-pendulum.yaml' });
      this.send({ type: 'play' });
    }
    if (message.type === 'note' && message.level === 'error') fail(message.text);
  }

  take(body) {
    ++this.frames;
    this.lastFrame = Date.now();
    const acknowledge = () => this.isOpen && this.send({ type: 'ack', frame: body.readUInt32LE(8) });
    if (this.kind === 'slow') setTimeout(acknowledge, 500);
    else acknowledge();
  }

  act() {
    if (!this.isOpen) return;
    if (this.kind === 'editor') {
      this.send({ type: 'edit', text: `pull lower.to [${Math.random().toFixed(3)}, ${-Math.random().toFixed(3)}]` });
      if (Math.random() < 0.1) this.send({ type: 'edit', text: 'release' });
      if (Math.random() < 0.05) this.send({ type: 'edit', text: `set gravity [0, ${-5 - Math.round(5 * Math.random())}]` });
    }
    if (this.kind === 'vanisher' && Math.random() < 0.1) {
      this.socket.destroy();
      this.isOpen = false;
      setTimeout(() => this.open(), 300);
    }
  }
}

function fail(reason) {
  console.error(`studio load: ${reason}`);
  isOver = true;
  server.kill('SIGKILL');
  process.exit(1);
}

const memory = () => Number(readFileSync(`/proc/${server.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) / 1024;
const kinds = ['watcher', 'watcher', 'watcher', 'editor', 'slow', 'vanisher'];
const clients = Array.from({ length: users }, (_, i) => new Client(kinds[i % kinds.length]));
for (const client of clients) client.open();
const acting = setInterval(() => clients.forEach((c) => c.act()), 50);

const watchers = clients.filter((c) => c.kind === 'watcher');
const start = Date.now();
const history = [];
let counted = watchers.map(() => 0);
for (let due = window; due <= seconds || history.length === 0; due += window) {
  const begin = Date.now();
  const end = start + 1000 * Math.min(due, seconds);
  while (Date.now() < end) {
    await new Promise((done) => setTimeout(done, Math.min(1000, end - Date.now())));
    if (watchers.some((c) => Date.now() - Math.max(c.lastFrame, start) > longestSilence)) fail('a watcher got no frame for five seconds');
    if (memory() > mostMemory) fail(`the server holds ${memory().toFixed(0)} MB, more than ${mostMemory} MB`);
  }
  const rates = watchers.map((c, i) => (1000 * (c.frames - counted[i])) / (Date.now() - begin));
  counted = watchers.map((c) => c.frames);
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  history.push({ time: Math.round((Date.now() - start) / 1000), memory: Math.round(memory()), mean: Number(mean.toFixed(1)), slowest: Number(Math.min(...rates).toFixed(1)) });
  console.log(JSON.stringify(history.at(-1)));
  if (mean < leastRate) fail(`watchers get ${mean.toFixed(1)} frames/s, fewer than ${leastRate}`);
}
clearInterval(acting);
const worst = (name, pick) => pick(...history.map((h) => h[name]));
console.log(`${users} users, ${seconds} s: at least ${worst('mean', Math.min)} frames/s for watchers (slowest of them ${worst('slowest', Math.min)}), at most ${worst('memory', Math.max)} MB`);
if (out) writeFileSync(out, JSON.stringify(history, null, 1));
isOver = true;
server.on('exit', (code) => {
  rmSync(workspace, { recursive: true, force: true });
  process.exit(code);
});
server.kill('SIGTERM');
