// Opening and saving: dialogs, drag and drop, downloads.

import { download, h } from '../dom';
import type { Studio } from '../studio';

const longestFile = 1_000_000;

export class Files {
  private chooser = h('input', { type: 'file', accept: '.yaml,.yml,.journal', hidden: true, id: 'upload' });

  constructor(
    private studio: Studio,
    private onOpened: () => void,
  ) {
    document.body.append(this.chooser);
    this.chooser.onchange = () => {
      const file = this.chooser.files?.[0];
      if (file) void this.openFile(file);
      this.chooser.value = '';
    };
    addEventListener('dragover', (e) => {
      e.preventDefault();
      document.body.classList.add('dropping');
    });
    addEventListener('dragleave', () => document.body.classList.remove('dropping'));
    addEventListener('drop', (e) => {
      e.preventDefault();
      document.body.classList.remove('dropping');
      const file = e.dataTransfer?.files[0];
      if (file) void this.openFile(file);
    });
  }

  choose(): void {
    this.chooser.click();
  }

  async openFile(file: File): Promise<void> {
    if (file.size > longestFile) {
      this.studio.note('error', `${file.name} is larger than a megabyte.`);
      return;
    }
    const source = file.name.endsWith('.journal') ? 'journal' : 'text';
    const reply = await this.studio.open(source, file.name, await file.text());
    if (!reply.ok) return;
    if (reply.mismatch) this.studio.note('warning', `The replay differs from the recording ${reply.mismatch}.`);
    else if (source === 'journal') this.studio.note('info', `Replayed ${reply.steps} steps to the same bits.`);
    this.onOpened();
  }

  /** Into the workspace if there is one, else as a download. */
  async save(): Promise<void> {
    if (!this.studio.scene) return;
    const stem = this.stem();
    if (!this.studio.hasWorkspace) return this.downloadModel();
    const name = prompt('Save in the workspace as', `${stem}.yaml`);
    if (!name) return;
    const reply = await this.studio.connection.ask('write', { file: name });
    if (reply.ok) this.studio.note('info', `Saved as ${name}.`);
    else this.studio.note('error', reply.reason ?? 'Not saved.');
  }

  async downloadModel(): Promise<void> {
    const reply = await this.studio.connection.ask('write');
    if (reply.ok) download(`${this.stem()}.yaml`, reply.text!);
    else this.studio.note('error', reply.reason ?? 'The model cannot be written.');
  }

  async downloadJournal(): Promise<void> {
    const reply = await this.studio.connection.ask('journal');
    if (reply.ok) download(`${this.stem()}.journal`, reply.text!);
    else this.studio.note('error', reply.reason ?? 'There is no journal.');
  }

  async downloadResults(format: 'csv' | 'hdf5'): Promise<void> {
    const reply = await this.studio.connection.ask('results', { format });
    if (!reply.ok) return this.studio.note('error', reply.reason ?? 'There are no results.');
    const bytes = Uint8Array.from(atob(reply.base64!), (letter) => letter.charCodeAt(0));
    download(`${this.stem()}.${format === 'csv' ? 'csv' : 'h5'}`, new Blob([bytes]));
  }

  async downloadPicture(): Promise<void> {
    const picture = await this.studio.view.picture();
    if (picture) download(`${this.stem()}.png`, picture);
  }

  private stem(): string {
    return (this.studio.scene?.name ?? '').replace(/.*\//, '').replace(/\.(yaml|yml|journal)$/, '').replaceAll(/[^A-Za-z0-9_-]/g, '-') || 'model';
  }
}
