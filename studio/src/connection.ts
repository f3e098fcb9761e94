// The line to the server: messages with replies, frames, and coming back after it was lost.

import { decodeFrame, type Frame } from './frame';
import type { Level, Reply, Scene, SessionState } from './types';

export interface Listener {
  onScene(scene: Scene): void;
  onState(state: SessionState): void;
  onFrame(frame: Frame): void;
  onNote(level: Level, text: string): void;
  onLine(isUp: boolean): void;
  onHello(workspace: boolean): void;
  /** A session is being brought back: how much of it is there, 0 .. 1; an empty text: all of it. */
  onProgress(text: string, done: number, time: number): void;
}

const sessionKey = 'limber-session';
const longestPause = 5000;

export class Connection {
  private socket: WebSocket | null = null;
  private nextId = 1;
  private waiting = new Map<number, (reply: Reply) => void>();
  private pause = 250;

  constructor(private listener: Listener) {}

  open(): void {
    const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
    const session = sessionStorage.getItem(sessionKey) ?? '';
    const socket = new WebSocket(`ws://${location.host}/live?session=${session}&token=${encodeURIComponent(token)}`);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    socket.onmessage = (event) => {
      if (typeof event.data === 'string') this.receive(JSON.parse(event.data));
      else this.receiveFrame(event.data as ArrayBuffer);
    };
    socket.onclose = (event) => this.lose(event.reason);
  }

  /** Sends a message and waits for its reply; refused if the line is down. */
  ask(type: string, fields: object = {}): Promise<Reply> {
    return new Promise((resolve) => {
      if (this.socket?.readyState !== WebSocket.OPEN) {
        resolve({ ok: false, reason: 'The connection is lost; trying to get it back.' });
        return;
      }
      const id = this.nextId++;
      this.waiting.set(id, resolve);
      this.socket.send(JSON.stringify({ type, id, ...fields }));
    });
  }

  /** Sends a message that needs no reply. */
  tell(type: string, fields: object = {}): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ type, ...fields }));
  }

  /** Drops the line as a failing network would; it comes back by itself. */
  drop(): void {
    this.socket?.close();
  }

  private receive(message: { type: string } & Record<string, unknown>): void {
    switch (message.type) {
      case 'hello':
        sessionStorage.setItem(sessionKey, message['session'] as string);
        this.pause = 250;
        this.listener.onLine(true);
        this.listener.onHello(message['workspace'] as boolean);
        break;
      case 'scene':
        this.listener.onScene(message as unknown as Scene);
        break;
      case 'state':
        this.listener.onState(message as unknown as SessionState);
        break;
      case 'note':
        this.listener.onNote(message['level'] as Level, message['text'] as string);
        break;
      case 'progress':
        this.listener.onProgress(message['text'] as string, message['done'] as number, message['time'] as number);
        break;
      case 'reply': {
        const id = message['id'] as number;
        this.waiting.get(id)?.(message as unknown as Reply);
        this.waiting.delete(id);
        break;
      }
    }
  }

  private receiveFrame(buffer: ArrayBuffer): void {
    const frame = decodeFrame(buffer);
    if (!frame) return;
    this.tell('ack', { frame: frame.number });
    this.listener.onFrame(frame);
  }

  private lose(reason: string): void {
    this.socket = null;
    for (const resolve of this.waiting.values()) resolve({ ok: false, reason: 'The connection was lost.' });
    this.waiting.clear();
    this.listener.onLine(false);
    if (reason.includes('another window')) {
      this.listener.onNote('warning', 'This session is now open in another window. Reload to bring it back here.');
      return;
    }
    setTimeout(() => this.open(), this.pause);
    this.pause = Math.min(2 * this.pause, longestPause);
  }
}
