import '../ui/ui.css';
import '../ui/markdown.css';
import '../ui/highlight/highlight.css';
import './chat.css';
import { render } from 'preact';
import type { ViewToHost } from '../../src/protocol.ts';
import { connectHost, readBoot, reportErrors } from '../ui/host.ts';
import { setLanguage } from '../ui/l10n.ts';
import { App } from './app.tsx';
import { ChatConnection } from './connection.ts';

const port = connectHost<ViewToHost>();
reportErrors((message) => port.post({ type: 'error', message }));
const boot = readBoot();
setLanguage(boot.l10n, boot.locale);
const connection = new ChatConnection((message) => port.post(message));
port.listen((data) => connection.receive(data));
const root = document.getElementById('root');
if (root !== null) {
  // the host's text for a page whose script does not run
  root.replaceChildren();
  render(<App connection={connection} port={port} boot={boot} />, root);
}
connection.start();
