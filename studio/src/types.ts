// What the server says about a model; see src/limber/server/scene.cpp and live_session.cpp.

export type Vector = [number, number, number];
export type Quaternion = [number, number, number, number];

export interface Solid {
  kind: 'rod' | 'box' | 'cylinder' | 'sphere' | 'disc' | 'point';
  size: number[];
  position: Vector;
  quaternion: Quaternion;
  color: string;
}

/** By which a body touches others, if that is not its solids. */
export interface ContactShape {
  kind: 'plane' | 'sphere' | 'box' | 'capsule' | 'cylinder' | 'cone' | 'convex' | 'mesh';
  size: number[];
  position: Vector;
  quaternion: Quaternion;
  vertices?: Vector[];
  triangles?: [number, number, number][];
}

export interface Body {
  name: string;
  index: number; // -1: the ground
  solids: Solid[];
  shapes?: ContactShape[];
  mass?: number;
  centre?: Vector;
  along?: number; // of a piece of a flexible body, which has one entry for each: its arc length
}

export interface Marker {
  name: string;
  body: number;
  position: Vector;
  quaternion: Quaternion;
  own: boolean; // made by a joint for itself
}

export interface Joint {
  name: string;
  type: string;
  a: number;
  b: number;
  coordinates: string[];
  closing: boolean;
  disabled?: boolean;
  radius?: number; // of a rolling disc
}

export interface Force {
  name: string;
  type: string;
  a: number;
  b: number;
  scalar: string;
  radius?: number; // of a tyre
}

export interface Stop {
  name: string;
  type: string;
  a: number;
  b: number;
  scalar: string; // of a limit
  min?: number;
  max?: number;
  length?: number;
  gap?: number;
}

export interface ContactRule {
  name: string;
  type: string;
}

export interface Mobility {
  freedoms: number;
  redundant: number;
  rows: number;
  rank: number;
  elements: string[];
}

/** What is legal but deserves a look. */
export interface Warning {
  kind: string;
  text: string;
  elements: string[];
}

/** A part of the mechanism with a solver of its own. */
export interface Component {
  name: string;
  formulation: string;
  integrator: string;
}

export interface Scene {
  revision: number;
  name: string;
  title: string;
  planar: boolean;
  gravity: [string, string, string];
  scale: number;
  bodies: Body[];
  markers: Marker[];
  joints: Joint[];
  forces: Force[];
  stops: Stop[];
  contacts: ContactRule[];
  drivers: string[];
  sensors: string[];
  events: string[];
  parameters: string[];
  columns: string[];
  mobility: Mobility | null;
  warnings: Warning[];
  components: Component[]; // none: the mechanism is not divided
  componentOf: number[]; // beside poses
  poses: number[][];
}

export interface Choice {
  name: string;
  text: string;
}

export interface SessionState {
  open: boolean;
  recovering: boolean;
  playing: boolean;
  speed: number;
  undo?: string;
  redo?: string;
  formulation?: string;
  integrator?: string;
  coordinates?: string;
  division?: string;
  step?: number;
  ghost?: string;
  reactions?: boolean;
  formulations: Choice[];
  integrators: Choice[];
}

export interface Reply {
  ok: boolean;
  reason?: string;
  message?: string;
  text?: string;
  base64?: string;
  time?: number;
  fingerprint?: string;
  mismatch?: string;
  steps?: number;
  properties?: { field: string; value: string }[];
  yaml?: string;
  examples?: { name: string; scene: Scene }[];
  files?: string[];
}

export type Level = 'info' | 'warning' | 'error';

/** An element of the model: "bodies" and "rod". */
export interface Selection {
  section: string;
  name: string;
}
