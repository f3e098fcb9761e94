// Many users at once: node bench/studio_load.mjs LIMBER [--users 50] [--seconds 600] [--out FILE.json]
//
// Most users watch a moving mechanism and take every frame, some edit as they watch, some are slow, some vanish and come back.
// Fails if the server dies, if a watcher gets no frames for two seconds, or if memory passes 1500 MB; prints how fast it grows.

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
const out = option('--out', '');

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

const start = Date.now();
const history = [];
let counted = clients.map((c) => c.frames);
while (Date.now() - start < 1000 * seconds) {
  await new Promise((done) => setTimeout(done, 2000));
  const watchers = clients.filter((c) => c.kind === 'watcher');
  const rates = watchers.map((c) => (c.frames - counted[clients.indexOf(c)]) / 2);
  counted = clients.map((c) => c.frames);
  history.push({ time: (Date.now() - start) / 1000, memory: memory(), slowest: Math.min(...rates), mean: rates.reduce((a, b) => a + b, 0) / rates.length });
  if (history.length > 1 && Math.min(...rates) === 0) fail('a watcher got no frame for two seconds');
}
clearInterval(acting);
const last = history.at(-1);
const quarter = history[Math.floor(history.length / 4)];
const growth = (last.memory - quarter.memory) / Math.max(1, (last.time - quarter.time) / 60);
console.log(`${users} users, ${seconds} s: ${last.mean.toFixed(1)} frames/s for a watcher (slowest ${last.slowest}), ${last.memory.toFixed(0)} MB, ${growth.toFixed(1)} MB more per minute`);
if (out) writeFileSync(out, JSON.stringify(history, null, 1));
if (last.memory > 1500) fail(`the server holds ${last.memory.toFixed(0)} MB`);
isOver = true;
server.on('exit', (code) => {
  rmSync(workspace, { recursive: true, force: true });
  process.exit(code);
});
server.kill('SIGTERM');
