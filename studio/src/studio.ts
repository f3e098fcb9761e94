// What the panels share: the model that is open, what is selected, and the line to the server.

import { Connection } from './connection';
import type { Frame } from './frame';
import type { Level, Reply, Scene, Selection, SessionState } from './types';
import type { Shown } from './view/overlays';
import type { SceneView } from './view/scene_view';

type Handler<T> = (value: T) => void;

/** A thing others can listen to. */
export class Signal<T> {
  private handlers: Handler<T>[] = [];
  on(handler: Handler<T>): void {
    this.handlers.push(handler);
  }
  emit(value: T): void {
    for (const handler of this.handlers) handler(value);
  }
}

export class Studio {
  readonly sceneChanged = new Signal<{ scene: Scene; isNew: boolean }>();
  readonly stateChanged = new Signal<SessionState>();
  readonly frameArrived = new Signal<Frame>();
  readonly selectionChanged = new Signal<Selection | null>();
  readonly noted = new Signal<{ level: Level; text: string }>();
  readonly lineChanged = new Signal<boolean>();
  readonly progressed = new Signal<{ text: string; done: number; time: number }>();
  readonly shownChanged = new Signal<Shown>();
  readonly connection: Connection;
  scene: Scene | null = null;
  state: SessionState | null = null;
  frame: Frame | null = null;
  selection: Selection | null = null;
  hasWorkspace = false;
  /** Joints that a panel points out. */
  marked = new Set<string>();
  private isOpening = true;

  constructor(readonly view: SceneView) {
    this.connection = new Connection({
      onScene: (scene) => {
        const isNew = this.isOpening || !this.scene;
        this.isOpening = false;
        this.scene = scene;
        view.setScene(scene, isNew);
        this.sceneChanged.emit({ scene, isNew });
        if (this.selection && !this.exists(this.selection)) this.select(null);
        this.paintSelection();
      },
      onState: (state) => {
        this.state = state;
        this.stateChanged.emit(state);
      },
      onFrame: (frame) => {
        this.frame = frame;
        view.setFrame(frame);
        if (frame.revision === this.scene?.revision) this.frameArrived.emit(frame);
      },
      onNote: (level, text) => this.note(level, text),
      onLine: (isUp) => this.lineChanged.emit(isUp),
      onHello: (workspace) => (this.hasWorkspace = workspace),
      onProgress: (text, done, time) => this.progressed.emit({ text, done, time }),
    });
  }

  note(level: Level, text: string): void {
    this.noted.emit({ level, text });
  }

  /** Opens a model; what is wrong with it is shown. */
  async open(source: 'example' | 'file' | 'text' | 'journal', name: string, text?: string): Promise<Reply> {
    this.isOpening = true;
    const reply = await this.connection.ask('open', text === undefined ? { source, name } : { source, name, text });
    this.isOpening = false;
    if (!reply.ok) this.note('error', reply.reason ?? 'The model cannot be opened.');
    else this.select(null);
    return reply;
  }

  /** Applies an edit; a refusal is shown in plain words. */
  async edit(text: string): Promise<Reply> {
    const reply = await this.connection.ask('edit', { text });
    if (!reply.ok) this.note('warning', `Not done: ${reply.reason ?? 'refused'}`);
    return reply;
  }

  select(selection: Selection | null): void {
    this.selection = selection;
    this.paintSelection();
    this.selectionChanged.emit(selection);
  }

  /** Arrows and traces on or off; without `isOn` the other way round. */
  show(what: keyof Shown, isOn = !this.shown[what]): void {
    this.shown[what] = isOn;
    if (what === 'components') this.view.bodies.showComponents(isOn);
    if (what === 'reactions') void this.connection.ask('reactions', { on: isOn });
    this.shownChanged.emit(this.shown);
  }

  get shown(): Shown {
    return this.view.overlays.shown;
  }

  togglePlay(): void {
    void this.connection.ask(this.state?.playing ? 'pause' : 'play');
  }

  /** A name that no element of a section has yet: "rod1", "rod2", ... */
  freshName(stem: string): string {
    const scene = this.scene!;
    const taken = new Set([...scene.bodies, ...scene.joints, ...scene.forces, ...scene.stops, ...scene.contacts].map((e) => e.name).concat(scene.sensors, scene.drivers, scene.parameters.map((p) => p.replace(/_speed$/, ''))));
    for (let i = 1; ; ++i) if (!taken.has(`${stem}${i}`)) return `${stem}${i}`;
  }

  private exists({ section, name }: Selection): boolean {
    const scene = this.scene!;
    const named: Record<string, { name: string }[]> = { bodies: scene.bodies, joints: scene.joints, forces: scene.forces, stops: scene.stops, contacts: scene.contacts, markers: scene.markers };
    const plain: Record<string, string[]> = { sensors: scene.sensors, drivers: scene.drivers, parameters: scene.parameters, events: scene.events };
    return section === 'gravity' || (named[section]?.some((e) => e.name === name) ?? plain[section]?.includes(name) ?? false);
  }

  private paintSelection(): void {
    const bodies = new Map<number, string>();
    if (this.selection?.section === 'bodies') {
      const body = this.scene?.bodies.find((b) => b.name === this.selection!.name);
      if (body) bodies.set(body.index, '#ffffff');
    }
    this.view.bodies.highlight(bodies);
    this.view.glyphs.paint(this.marked, this.selection?.section === 'joints' ? this.selection.name : null);
  }

  mark(joints: string[]): void {
    this.marked = new Set(joints);
    this.paintSelection();
  }
}
