import '../ui/ui.css';
import '../ui/markdown.css';
import '../ui/highlight/highlight.css';
import './results.css';
import { render } from 'preact';
import type { HostToResults, ResultsToHost } from '../../src/protocol.ts';
import { connectHost, readBoot, reportErrors } from '../ui/host.ts';
import { setLanguage } from '../ui/l10n.ts';
import type { MarkdownActions } from '../ui/markdown.tsx';
import { App } from './app.tsx';

const port = connectHost<ResultsToHost>();
const post = (message: ResultsToHost): void => port.post(message);
reportErrors((message) => post({ type: 'error', message }));
const boot = readBoot();
setLanguage(boot.l10n, boot.locale);
const actions: MarkdownActions = {
  openLink: (url) => post({ type: 'openLink', url }),
  openLocation: (path, line) => post({ type: 'open', path, preview: true, ...(line === undefined ? {} : { line }) }),
  copy: (text) => post({ type: 'copy', text }),
};

const root = document.getElementById('root');
let answered = false;
port.listen((data) => {
  const message = data as Partial<HostToResults> | null;
  if (root === null || message?.type !== 'page' || message.page === undefined || typeof message.seq !== 'number') return;
  if (!answered) root.replaceChildren();
  answered = true;
  render(<App page={message.page} seq={message.seq} post={post} actions={actions} />, root);
});
/** Until the host answers, ms between two calls. */
const RETRY = 1000;
const ask = (left: number): void => {
  if (answered || left === 0) return;
  post({ type: 'ready' });
  setTimeout(() => ask(left - 1), RETRY);
};
ask(30);
